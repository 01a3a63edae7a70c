#include "fabric/host/bounds.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace reshard::fabric {
namespace {

constexpr Index kMost = std::numeric_limits<Index>::max();

TEST(Bounds, SpanFromFirstToLastByte) {
  const std::vector<Stride> loops{{3, 100, 7}, {4, 10, -20}};
  const StridedCopy copy{.source_offset = 5, .target_offset = 60, .row_bytes = 6, .loops = loops};
  EXPECT_EQ(source_range(copy).begin, 5);
  EXPECT_EQ(source_range(copy).end, 5 + 2 * 100 + 3 * 10 + 6);
  EXPECT_EQ(target_range(copy).begin, 60 - 3 * 20);
  EXPECT_EQ(target_range(copy).end, 60 + 2 * 7 + 6);
  EXPECT_TRUE(source_range(copy).within(241));
  EXPECT_FALSE(source_range(copy).within(240));
}

TEST(Bounds, NothingIsWithinNothing) {
  const std::vector<Stride> none{{0, 8, 8}};
  EXPECT_TRUE(source_range({.source_offset = 99, .row_bytes = 4, .loops = none}).within(0));
  EXPECT_TRUE(target_range({.target_offset = 99, .row_bytes = 0}).within(0));
}

// Offset and length that only together pass 2^63, and strides whose product does.
TEST(Bounds, OverflowIsOutside) {
  EXPECT_FALSE(source_range({.source_offset = kMost - 3, .row_bytes = 8}).within(kMost - 1));
  EXPECT_FALSE(source_range({.source_offset = kMost, .row_bytes = 1}).within(kMost - 1));
  const std::vector<Stride> far{{kMost, kMost / 2, -kMost}};
  const StridedCopy copy{.source_offset = 0, .target_offset = 0, .row_bytes = 1, .loops = far};
  EXPECT_FALSE(source_range(copy).within(kMost - 1));
  EXPECT_FALSE(target_range(copy).within(kMost - 1));
}

TEST(Bounds, NegativeCountsAreNotWellFormed) {
  const std::vector<Stride> loops{{-1, 8, 8}};
  EXPECT_FALSE(is_well_formed({.row_bytes = 8, .loops = loops}));
  EXPECT_FALSE(is_well_formed({.row_bytes = -8}));
  EXPECT_TRUE(is_well_formed({.row_bytes = 0}));
}

}  // namespace
}  // namespace reshard::fabric
