#include <gmock/gmock.h>

#include "reshard/error.h"
#include "reshard/halo.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<double> rows(Index n) {
  std::vector<double> colatitudes;
  for (Index k = 0; k < n; ++k) colatitudes.push_back(static_cast<double>(k));
  return colatitudes;
}

using Splits = std::vector<Index>;

TEST(HaloRadius, IsTheFarthestRowThatAnyRankNeeds) {
  EXPECT_EQ(halo_radius(rows(10), rows(10), 0.5, Splits{4, 3, 3}, Splits{4, 3, 3}), 0);
  EXPECT_EQ(halo_radius(rows(10), rows(10), 1, Splits{4, 3, 3}, Splits{4, 3, 3}), 1);
  EXPECT_EQ(halo_radius(rows(10), rows(10), 2.5, Splits{4, 3, 3}, Splits{4, 3, 3}), 2);
  EXPECT_EQ(halo_radius(rows(10), rows(10), 100, Splits{4, 3, 3}, Splits{4, 3, 3}), 7);
  EXPECT_EQ(halo_radius(rows(10), rows(10), 100, Splits{10}, Splits{10}), 0);
}

// 33 rows over 4 ranks are 9,8,8,8 and 17 are 5,4,4,4: output row k lies at input row 2 k, so rank 1 has rows 9 to 16
// and computes 10 to 16.
TEST(HaloRadius, BandsAtDifferentOffsets) {
  std::vector<double> out;
  for (Index k = 0; k < 17; ++k) out.push_back(static_cast<double>(2 * k));
  EXPECT_EQ(halo_radius(rows(33), out, 2, Splits{9, 8, 8, 8}, Splits{5, 4, 4, 4}), 2);
  EXPECT_EQ(halo_radius(rows(33), out, 2, Splits{8, 8, 8, 9}, Splits{5, 4, 4, 4}), 3);
}

TEST(HaloRadius, RanksWithoutRowsNeedNone) {
  EXPECT_EQ(halo_radius(rows(2), rows(2), 1, Splits{1, 1, 0, 0}, Splits{1, 1, 0, 0}), 1);
  EXPECT_EQ(halo_radius(rows(0), rows(0), 1, Splits{0, 0}, Splits{0, 0}), 0);
}

std::string refused(double cutoff, const Splits& in, const Splits& out, const HaloRadiusOptions& options = {}) {
  try {
    halo_radius(rows(10), rows(10), cutoff, in, out, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return "nothing";
}

TEST(HaloRadius, RefusesMoreThanIsAllowedAndNamesTheWayOut) {
  const Splits thirds{4, 3, 3};
  EXPECT_THAT(refused(4, thirds, thirds, {.next_neighbours_only = true}),
              AllOf(HasSubstr("rank 0 needs 4 rows"), HasSubstr("smallest shard has 3"), HasSubstr("reduce-scatter")));
  EXPECT_EQ(refused(3, thirds, thirds, {.next_neighbours_only = true}), "nothing");
  EXPECT_THAT(refused(3, thirds, thirds, {.most = 2}),
              AllOf(HasSubstr("3 rows"), HasSubstr("the 2 allowed"), HasSubstr("widen by 3 all the same")));
  EXPECT_EQ(refused(3, thirds, thirds, {.most = 3}), "nothing");
}

TEST(HaloRadius, RefusesSplitsAndRowsThatDoNotFit) {
  EXPECT_THAT(refused(1, {4, 3}, {4, 3, 3}), HasSubstr("input splits add up to 7 rows, but there are 10"));
  EXPECT_THAT(refused(1, {4, 3, 3}, {4, 7, -1}), HasSubstr("output splits have a length of -1"));
  EXPECT_THAT(refused(1, {4, 3, 3}, {5, 5}), HasSubstr("for 3 ranks, the output for 2"));
  EXPECT_THAT(refused(-1, {4, 3, 3}, {4, 3, 3}), HasSubstr("the cutoff is -1"));
  const std::vector<double> unsorted{0, 2, 1};
  EXPECT_THROW(halo_radius(unsorted, rows(3), 1, Splits{3}, Splits{3}), Error);
}

}  // namespace
}  // namespace reshard
