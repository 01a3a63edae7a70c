// DTensor's _StridedShard, literally, and where it parts from "tp cuts first, then dp".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden/show.h"

namespace reshard {
namespace {

using Sizes = std::vector<Index>;

Layout strided(Index dp, Index tp, Index n) {
  return layout(fmt::format("f32[{}] on (dp={}, tp={}) {{0: dp:strided-shard({}) tp}}", n, dp, tp, tp));
}
Layout ordered(Index dp, Index tp, Index n) {
  return layout(fmt::format("f32[{}] on (dp={}, tp={}) {{0: tp dp}}", n, dp, tp));
}

TEST(StridedShard, DiffersFromTheTrueOrderInFiftyUnevenCases) {
  std::vector<std::string> different;
  int cases = 0;
  for (Index dp = 2; dp <= 4; ++dp)
    for (Index tp = 2; tp <= 4; ++tp)
      for (Index n = 1; n <= 64; ++n) {
        ++cases;
        if (same_ownership(strided(dp, tp, n), ordered(dp, tp, n))) continue;
        different.push_back(fmt::format("dp={} tp={} n={}", dp, tp, n));
        EXPECT_NE(n % (dp * tp), 0) << different.back();
      }
  EXPECT_EQ(cases, 576);
  ASSERT_EQ(different.size(), 50u);
  EXPECT_EQ(different.front(), "dp=3 tp=2 n=7");
}

TEST(StridedShard, FirstMismatchIsTheLastElement) {
  const Layout s = strided(3, 2, 7);
  const Layout o = ordered(3, 2, 7);
  EXPECT_EQ(held_by(o, 4), (Sizes{}));   // dp=2, tp=0
  EXPECT_EQ(held_by(o, 5), (Sizes{6}));  // dp=2, tp=1
  EXPECT_EQ(held_by(s, 4), (Sizes{6}));
  EXPECT_EQ(held_by(s, 5), (Sizes{}));
}

TEST(StridedShard, HoldsAListOfIntervals) {
  const Layout l = layout("f32[5] on (x=2) {0: x:strided-shard(2)}");  // pytorch #168134, the ragged reading
  EXPECT_EQ(held_by(l, 0), (Sizes{0, 1, 3}));
  EXPECT_EQ(held_by(l, 1), (Sizes{2, 4}));
  EXPECT_EQ(segments_of(l, 0), "(0,0,2) (2,3,1)");
}

TEST(StridedShard, TakesAFactorBeyondTheSize) {
  const Layout l = layout("f32[3] on (x=2) {0: x:strided-shard(7)}");  // pieces of one element each
  EXPECT_EQ(held_by(l, 0), (Sizes{0, 1, 2}));
  EXPECT_EQ(held_by(l, 1), (Sizes{}));
}

TEST(StridedShard, DividesUnits) {
  const Layout l = layout("f32[10] on (x=2) {0: x:strided-shard(4)/2}");  // 5 units in pieces of 2, 2, 1
  EXPECT_EQ(held_by(l, 0), (Sizes{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(held_by(l, 1), (Sizes{2, 3, 6, 7}));
}

}  // namespace
}  // namespace reshard
