// Relabelling: the optimum, against every permutation; nothing changes where nothing is won.
#include "reshard/relabel.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "oracle/ownership.h"
#include "property/all_layouts.h"
#include "property/random_layout.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Index sent(const Layout& source, const Layout& target) { return plan(source, target).certificate().sent; }

// What relabelling claims, against the plans of both targets.
Relabelling checked(const Layout& source, const Layout& target) {
  const Relabelling result = relabel(source, target);
  const std::string pair = source.text() + "  ->  " + target.text();
  EXPECT_GE(result.saved(), 0) << pair;
  EXPECT_EQ(sent(source, result.target), sent(source, target) - result.saved()) << pair;
  EXPECT_EQ(result.saved() > 0, !result.seats.empty()) << pair;
  EXPECT_THAT(verify(plan(source, result.target)), testing::SizeIs(0)) << pair;
  std::vector<Index> before, now;
  for (Index place = 0; place < target.mesh().size(); ++place) {
    before.push_back(target.mesh().rank_at_ordinal(place).value());
    now.push_back(result.target.mesh().rank_at_ordinal(place).value());
  }
  EXPECT_TRUE(std::ranges::is_permutation(before, now)) << pair;
  return result;
}

// Greatest number of elements kept over all orders of the target's ranks, by the oracle's owners.
Index most_kept(const Layout& source, const Layout& target) {
  const std::vector<std::uint64_t> held = oracle::owner_bits(oracle::ownership_of(source));
  const std::vector<std::uint64_t> wanted = oracle::owner_bits(oracle::ownership_of(target));
  std::vector<Index> ranks;
  for (Index place = 0; place < target.mesh().size(); ++place)
    ranks.push_back(target.mesh().rank_at_ordinal(place).value());
  std::vector<std::vector<Index>> kept(ranks.size(), std::vector<Index>(ranks.size(), 0));
  for (std::size_t element = 0; element < held.size(); ++element)
    for (std::size_t place = 0; place < ranks.size(); ++place)
      for (std::size_t k = 0; k < ranks.size(); ++k)
        kept[place][k] += (wanted[element] >> ranks[place] & 1) & (held[element] >> ranks[k] & 1);
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Index most = 0;
  do {
    Index sum = 0;
    for (std::size_t place = 0; place < order.size(); ++place) sum += kept[place][order[place]];
    most = std::max(most, sum);
  } while (std::ranges::next_permutation(order).found);
  return most;
}

TEST(Relabel, ARotationOfThreeNeedsNoByte) {
  const Layout source = layout("f32[30] on (a=3) {0: a}"), target = layout("f32[30] on (a=3)@[1,2,0] {0: a}");
  const Relabelling result = checked(source, target);
  EXPECT_EQ(sent(source, target), 30 * 4);
  EXPECT_EQ(result.saved(), 30 * 4);
  EXPECT_EQ(result.target, source);
  EXPECT_THAT(result.seats,
              ElementsAre(Seat{RankId(1), RankId(0)}, Seat{RankId(2), RankId(1)}, Seat{RankId(0), RankId(2)}));
}

TEST(Relabel, APermutationOfAxesIsFoundAndWrittenInRegularForm) {
  const Layout source = layout("f32[8,8] on (a=2, b=2) {0: a, 1: b}"),
               target = layout("f32[8,8] on (a=2, b=2) {0: b, 1: a}");
  const Relabelling result = checked(source, target);
  EXPECT_EQ(sent(source, result.target), 0);
  EXPECT_EQ(result.target.mesh().text(), "(a=2:1, b=2:2)");
}

TEST(Relabel, LeavesAllAsItIsWhereNothingIsWon) {
  for (const auto& [source, target] :
       std::vector<std::pair<const char*, const char*>>{{"f32[8,8] on (a=4) {0: a}", "f32[8,8] on (a=4) {1: a}"},
                                                        {"f32[8] on (a=4) {}", "f32[8] on (a=4) {0: a}"},
                                                        {"f32[8] on (a=4) {0: a}", "f32[8] on (a=4)@4 {0: a}"},
                                                        {"f32[0] on (a=4) {0: a}", "f32[0] on (a=4)@[3,1,0,2] {0: a}"},
                                                        {"f32[] on (a=2)", "f32[] on (a=2)@[1,0]"}}) {
    const Relabelling result = checked(layout(source), layout(target));
    EXPECT_EQ(result.target, layout(target));
    EXPECT_THAT(result.seats, IsEmpty());
  }
}

TEST(Relabel, RanksOfOnlyOneSideHaveNothingToKeep) {
  // Ranks 2 and 3 are on both sides, 4 and 5 new: they take what nobody has.
  const Layout source = layout("f32[8] on (a=4) {0: a}"), target = layout("f32[8] on (a=4)@2 {0: a}");
  const Relabelling result = checked(source, target);
  EXPECT_EQ(result.kept, 2 * 2 * 4);
  EXPECT_EQ(result.target.mesh().rank_at_ordinal(2), RankId(2));
  EXPECT_EQ(result.target.mesh().rank_at_ordinal(3), RankId(3));
}

TEST(Relabel, KeepsTheMeshesNamesGroupsAndViews) {
  const Layout source = layout("bf16[8,4][2:8, :] on m(t=4 as (u=2, v=2)) {0: t}");
  const Layout target = layout("bf16[6,4] on n(t=4 as (u=2, v=2))@[2,0,3,1] {0: t}");
  const Relabelling result = checked(source, target);
  EXPECT_EQ(result.target.mesh().name(), "n");
  EXPECT_EQ(result.target.mesh().groups(), target.mesh().groups());
  EXPECT_EQ(result.kept, most_kept(source, target) * 2);
}

// spec: fully sharded placements of a 2x2x2 mesh, each on dimension 0 or 1.
TEST(Relabel, HelpsMostPairsOfFullyShardedPlacements) {
  const auto placed = [](int choice) {
    SmallLayout small{{2, 2, 2}, {{}, {}}};
    for (int axis = 0; axis < 3; ++axis) small.cuts[choice >> axis & 1].push_back(axis);
    return layout_of(small, {64, 64}, RankId(0));
  };
  int helped = 0, free = 0;
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b) {
      if (a == b) continue;
      const Relabelling result = checked(placed(a), placed(b));
      helped += result.saved() > 0 ? 1 : 0;
      free += result.kept == result.target.bytes() ? 1 : 0;
    }
  EXPECT_EQ(helped, 42);
  EXPECT_EQ(free, 12);
}

TEST(Relabel, IsTheBestOfAllOrdersOfRandomLayouts) {
  Random random(seed_from_environment());
  int compared = 0, won = 0;
  while (compared < 1000 && !testing::Test::HasFailure()) {
    const std::vector<Index> shape = random_shape(random);
    const Layout source = random_layout(random, shape, Dtype::bf16), target = random_layout(random, shape, Dtype::bf16);
    if (target.mesh().size() > 7) continue;
    const Relabelling result = checked(source, target);
    ASSERT_EQ(result.kept, most_kept(source, target) * 2) << source.text() << "  ->  " << target.text();
    won += result.saved() > 0 ? 1 : 0;
    ++compared;
  }
  fmt::print("{} pairs, {} with bytes saved\n", compared, won);
  EXPECT_GT(won, 100);
}

// A shuffled mesh of more ranks than can be tried: the shuffle is undone.
TEST(Relabel, UndoesAShuffleOf120Ranks) {
  Random random(seed_from_environment() + 1);
  std::vector<RankId> ranks;
  for (Index rank = 0; rank < 120; ++rank) ranks.push_back(RankId(rank));
  random.shuffle(ranks);
  LayoutSpec spec = layout("f32[131,67] on (a=12, b=10) {0: a, 1: b}").spec();
  const Layout source(spec);
  spec.mesh = Mesh::listed("", spec.mesh.axes(), ranks);
  const Relabelling result = checked(source, Layout(spec));
  EXPECT_EQ(result.kept, source.bytes());
  EXPECT_EQ(result.target, source);
}

TEST(Relabel, RefusesWhatCannotBePlannedOrIsTooLarge) {
  EXPECT_THROW(relabel(layout("f32[8] on (a=2) {0: a}"), layout("f32[9] on (a=2) {0: a}")), Error);
  EXPECT_THROW(relabel(layout("f32[8] on (a=2) {a: partial(sum)}"), layout("f32[8] on (a=2) {0: a}")), Error);
  EXPECT_THROW(relabel(layout("f32[8] on (a=5000) {0: a}"), layout("f32[8] on (a=5000) {0: a}")), Error);
  // Shapes whose element counts would leave no room for the preference of places.
  const char* const large = "u8[2305843009213693951] on (a=2) {}";
  EXPECT_EQ(relabel(layout(large), layout(large)).saved(), 0);
}

}  // namespace
}  // namespace reshard
