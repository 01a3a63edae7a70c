#include "kernel/nest.h"

#include <gtest/gtest.h>

#include <vector>

namespace reshard::kernel {
namespace {

Nest nest_of(Index row_bytes, std::vector<Stride> loops) {
  static std::byte memory[4096];
  return simplified(memory, memory, {.row_bytes = row_bytes, .loops = loops});
}

TEST(Nest, ContiguousLoopsBecomeOneRow) {
  const Nest nest = nest_of(4, {{5, 24, 24}, {3, 8, 8}, {2, 4, 4}});
  EXPECT_EQ(nest.depth, 0u);
  EXPECT_EQ(nest.row_bytes, 120);
}

TEST(Nest, LoopsThatContinueEachOtherAreJoined) {
  const Nest nest = nest_of(4, {{5, 30, 60}, {3, 10, 20}});
  ASSERT_EQ(nest.depth, 1u);
  EXPECT_EQ(nest.loops[0].count, 15);
  EXPECT_EQ(nest.loops[0].source_bytes, 10);
}

TEST(Nest, ContiguousAtOneEndOnlyIsKept) {
  const Nest nest = nest_of(4, {{3, 4, 8}});
  EXPECT_EQ(nest.depth, 1u);
  EXPECT_EQ(nest.row_bytes, 4);
}

// Given fastest loop first, still one row.
TEST(Nest, OrderOfLoopsIsNotTheCallers) {
  const Nest nest = nest_of(4, {{2, 4, 4}, {3, 8, 8}});
  EXPECT_EQ(nest.row_bytes, 24);
}

TEST(Nest, BackwardAtBothEndsIsForward) {
  const Nest nest = nest_of(4, {{3, -4, -4}});
  EXPECT_EQ(nest.depth, 0u);
  EXPECT_EQ(nest.row_bytes, 12);
}

TEST(Nest, LoopsOfOneVanishAndOfNoneEmptyTheCopy) {
  EXPECT_EQ(nest_of(4, {{1, 999, 7}}).depth, 0u);
  EXPECT_EQ(nest_of(4, {{3, 8, 8}, {0, 1, 1}}).bytes(), 0);
}

}  // namespace
}  // namespace reshard::kernel
