#include "reshard/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/error.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Index> ranks_of(const Mesh& m) {
  std::vector<Index> ranks;
  for (Index ordinal = 0; ordinal < m.size(); ++ordinal) ranks.push_back(m.rank_at_ordinal(ordinal).value());
  return ranks;
}

std::string refusal(std::string_view text) {
  try {
    mesh(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return "accepted";
}

// Every rank from -3 to past the end: inside it names its coordinate, outside nothing.
void expect_inverse(const Mesh& m) {
  Index found = 0;
  for (RankId rank(-3); rank < m.end_rank() + 3; ++rank) {
    const auto coordinate = m.coordinate_of(rank);
    EXPECT_EQ(m.contains(rank), coordinate.has_value());
    if (!coordinate) continue;
    ++found;
    EXPECT_EQ(m.rank_at(*coordinate), rank) << m.text();
  }
  EXPECT_EQ(found, m.size()) << m.text();
  EXPECT_EQ(mesh(m.text()), m);
  EXPECT_EQ(mesh(m.text()).text(), m.text());
}

TEST(Mesh, StridesPlaceRanks) {
  const Mesh m = mesh("(a=2:1, b=3:4)@5");
  EXPECT_THAT(ranks_of(m), ElementsAre(5, 9, 13, 6, 10, 14));
  EXPECT_EQ(m.first_rank(), RankId(5));
  EXPECT_EQ(m.end_rank(), RankId(15));
  expect_inverse(m);
}

TEST(Mesh, NegativeStridesCountDown) {
  const Mesh m = mesh("(a=3:-2, b=2:1)@4");
  EXPECT_THAT(ranks_of(m), ElementsAre(4, 5, 2, 3, 0, 1));
  EXPECT_EQ(m.first_rank(), RankId(0));
  EXPECT_EQ(m.end_rank(), RankId(6));
  expect_inverse(m);
  EXPECT_THAT(refusal("(a=3:-2, b=2:1)@3"), HasSubstr("rank -1 is negative"));
}

TEST(Mesh, AListWithARegularFormBecomesIt) {
  EXPECT_EQ(mesh("(a=2, b=3)@[7,8,9,10,11,12]").text(), "(a=2, b=3)@7");
  EXPECT_EQ(mesh("(a=2, b=2)@[0,2,1,3]").text(), "(a=2:1, b=2:2)");
  EXPECT_EQ(mesh("(a=3)@[9,6,3]").text(), "(a=3:-3)@9");
  EXPECT_EQ(mesh("(a=1:3, b=2:5)").text(), mesh("(a=1, b=2)@[0,5]").text());
  EXPECT_EQ(mesh("(a=2:1, b=1:77)"), mesh("(a=2, b=1)"));
}

TEST(Mesh, AListWithoutOneStaysAList) {
  const Mesh m = mesh("(a=2, b=2)@[5,2,9,0]");
  EXPECT_EQ(m.text(), "(a=2, b=2)@[5,2,9,0]");
  expect_inverse(m);
  EXPECT_EQ(mesh("(a=6)@[0,1,2,4,5,6]").text(), "(a=6)@[0:3,4:7]");
}

// Strides 2 and 3 have no digits, but name six different ranks.
TEST(Mesh, InterleavedStridesAreListed) {
  const Mesh m = mesh("(a=2:3, b=3:2)");
  EXPECT_THAT(ranks_of(m), ElementsAre(0, 2, 4, 3, 5, 7));
  expect_inverse(m);
  EXPECT_THAT(refusal("(a=3:2, b=3:4)"), HasSubstr("rank 4 is listed twice"));
  EXPECT_THAT(refusal("(a=2:1, b=3:1)"), HasSubstr("strides of 6 ranks overlap"));
}

TEST(Mesh, ListsOfDistantRanksNeitherOverflowNorFail) {
  const Mesh m = mesh("(x=4)@[0,4611686018427387904,1,2]");
  EXPECT_EQ(m.coordinate_of(RankId(Index{1} << 62)), Coordinate{1});
  EXPECT_EQ(mesh(m.text()), m);
  EXPECT_EQ(mesh("(x=3)@[9223372036854775806,0,5]").first_rank(), RankId(0));
  EXPECT_FALSE(mesh("(x=2)@7").contains(RankId(INT64_MIN)));
}

TEST(Mesh, ShortTextsOfHugeListsAreRefusedBeforeTheyAreBuilt) {
  EXPECT_THAT(refusal("(x=4)@[0:4000000000000]"), HasSubstr("a mesh lists at most 4194304 ranks"));
  EXPECT_THAT(refusal("(x=4)@[0:4000000,0:4000000]"), HasSubstr("a mesh lists at most 4194304 ranks"));
  EXPECT_THAT(refusal("(a=2000:1, b=2000:1)"), HasSubstr("strides of 4000000 ranks overlap"));
}

TEST(Mesh, GroupsNameTheirLeaves) {
  const Mesh m = mesh("t(dp=2, tp=8 as kv=4, rep=2)");
  EXPECT_EQ(m.text(), "t(dp=2, tp=8 as (kv=4, rep=2))");
  EXPECT_EQ(m.size(), 16);
  EXPECT_EQ(m.find("tp"), (AxisRange{1, 2}));
  EXPECT_EQ(m.find("rep"), (AxisRange{2, 1}));
  EXPECT_EQ(m.find("pp"), std::nullopt);
  expect_inverse(m);
  EXPECT_THAT(refusal("(tp=8 as (kv=4, rep=3))"), HasSubstr("axis \"tp\" has size 8, but its sub-axes have 12"));
}

TEST(Mesh, NoAxesAreOneRank) {
  EXPECT_THAT(ranks_of(mesh("()@3")), ElementsAre(3));
  expect_inverse(mesh("()@3"));
}

}  // namespace
}  // namespace reshard
