// The chunk rule of DTensor and torch.chunk, nested and flat, and the split conventions of other systems.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "golden/show.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using Sizes = std::vector<Index>;

TEST(ChunkRule, IsThatOfDtensor) {
  const std::vector<std::tuple<Index, Index, Sizes>> table = {{1, 4, {1, 0, 0, 0}},
                                                              {2, 4, {1, 1, 0, 0}},
                                                              {3, 4, {1, 1, 1, 0}},
                                                              {5, 4, {2, 2, 1, 0}},
                                                              {6, 4, {2, 2, 2, 0}},
                                                              {7, 4, {2, 2, 2, 1}},
                                                              {9, 4, {3, 3, 3, 0}},
                                                              {10, 4, {3, 3, 3, 1}},
                                                              {13, 4, {4, 4, 4, 1}},
                                                              {7, 3, {3, 3, 1}},
                                                              {9, 8, {2, 2, 2, 2, 1, 0, 0, 0}},
                                                              {10, 8, {2, 2, 2, 2, 2, 0, 0, 0}},
                                                              {17, 8, {3, 3, 3, 3, 3, 2, 0, 0}}};
  for (const auto& [n, parts, sizes] : table) EXPECT_EQ(sizes_by("p", n, parts), sizes) << n << " over " << parts;
}

TEST(ChunkRule, Of512Over30LeavesTheLastEmpty) {
  Sizes sizes(28, 18);
  sizes.push_back(8);
  sizes.push_back(0);
  EXPECT_EQ(sizes_by("p", 512, 30), sizes);
}

TEST(ChunkRule, FollowsItsFormula) {
  for (Index n = 0; n <= 64; ++n)
    for (Index k = 1; k <= 16; ++k) {
      const Index c = (n + k - 1) / k;
      Sizes sizes;
      for (Index i = 0; i < k; ++i) sizes.push_back(std::min((i + 1) * c, n) - std::min(i * c, n));
      EXPECT_EQ(sizes_by("p", n, k), sizes) << n << " over " << k;
    }
}

struct Nested {
  const char* text;
  Sizes sizes;
  Sizes offsets;
};

// An offset of the whole size stands for an empty shard.
TEST(NestedChunks, CutWhatIsLeft) {
  const std::vector<Nested> table = {
      {"f32[5] on (a=2, b=2) {0: a b}", {2, 1, 1, 1}, {0, 2, 3, 4}},
      {"f32[7] on (a=2, b=3) {0: a b}", {2, 2, 0, 1, 1, 1}, {0, 2, 7, 4, 5, 6}},
      {"f32[7] on (a=3, b=2) {0: a b}", {2, 1, 2, 1, 1, 0}, {0, 2, 3, 5, 6, 7}},
      {"f32[9] on (a=2, b=2, c=2) {0: a b c}", {2, 1, 1, 1, 1, 1, 1, 1}, {0, 2, 3, 4, 5, 6, 7, 8}},
      {"f32[2] on (a=2, b=4) {0: a b}", {1, 0, 0, 0, 1, 0, 0, 0}, {0, 2, 2, 2, 1, 2, 2, 2}},
      {"f32[17] on (a=2, b=2, c=2) {0: a b c}", {3, 2, 2, 2, 2, 2, 2, 2}, {0, 3, 5, 7, 9, 11, 13, 15}}};
  for (const Nested& row : table) {
    EXPECT_EQ(sizes_of(layout(row.text)), row.sizes) << row.text;
    EXPECT_EQ(offsets_of(layout(row.text)), row.offsets) << row.text;
  }
}

int sizes_where_nested_and_flat_differ(const std::string& mesh, const std::string& axes) {
  int count = 0;
  for (Index n = 1; n <= 64; ++n) {
    const Layout nested = layout(fmt::format("f32[{}] on {} {{0: {}}}", n, mesh, axes));
    const Layout flat = layout(fmt::format("f32[{}] on {} {{0: ({})}}", n, mesh, axes));
    const bool differ = !same_ownership(nested, flat);
    EXPECT_FALSE(differ && n % nested.mesh().size() == 0) << n;
    count += differ ? 1 : 0;
  }
  return count;
}

TEST(FlatCut, IsThatOfXla) {
  EXPECT_EQ(sizes_of(layout("f32[5] on (a=2, b=2) {0: (a b)}")), (Sizes{2, 2, 1, 0}));
  EXPECT_EQ(sizes_of(layout("f32[5] on (a=2, b=2) {0: a b}")), (Sizes{2, 1, 1, 1}));
}

TEST(FlatCut, DiffersFromNestedForMostSizesThatDoNotDivide) {
  EXPECT_EQ(sizes_where_nested_and_flat_differ("(a=2, b=2)", "a b"), 31);
  EXPECT_EQ(sizes_where_nested_and_flat_differ("(a=2, b=4)", "a b"), 47);
  EXPECT_EQ(sizes_where_nested_and_flat_differ("(a=2, b=2, c=2)", "a b c"), 47);
}

TEST(FlatCut, TakesTheSlowestAxisFirst) {
  const Layout swapped = layout("f32[6] on (a=2, b=3) {0: (b a)}");
  EXPECT_EQ(held_by(swapped, 1), (Sizes{2}));  // a=0, b=1 is the third of (b a)
  EXPECT_EQ(held_by(swapped, 3), (Sizes{1}));  // a=1, b=0 is the second
}

struct Convention {
  const char* cut;
  std::vector<Sizes> sizes;  // 10/4, 5/4, 6/4, 17/4, 3/4
};

TEST(SplitConventions, MatchTheirSystems) {
  const std::vector<Convention> table = {
      {"p:balanced", {{3, 3, 2, 2}, {2, 1, 1, 1}, {2, 2, 1, 1}, {5, 4, 4, 4}, {1, 1, 1, 0}}},
      {"p:balanced-last", {{2, 2, 3, 3}, {1, 1, 1, 2}, {1, 1, 2, 2}, {4, 4, 4, 5}, {0, 1, 1, 1}}},
      {"p:floor", {{2, 3, 2, 3}, {1, 1, 1, 2}, {1, 2, 1, 2}, {4, 4, 4, 5}, {0, 1, 1, 1}}},
      {"p", {{3, 3, 3, 1}, {2, 2, 1, 0}, {2, 2, 2, 0}, {5, 5, 5, 2}, {1, 1, 1, 0}}}};
  const Sizes lengths = {10, 5, 6, 17, 3};
  for (const Convention& row : table)
    for (std::size_t k = 0; k < lengths.size(); ++k)
      EXPECT_EQ(sizes_by(row.cut, lengths[k], 4), row.sizes[k]) << row.cut << " of " << lengths[k];
}

TEST(SplitConventions, EvenRefusesWhatDoesNotDivide) {
  EXPECT_EQ(sizes_by("p:even", 8, 4), (Sizes{2, 2, 2, 2}));
  for (const Index n : {10, 5, 6, 17, 3}) EXPECT_THROW(sizes_by("p:even", n, 4), Error) << n;
}

TEST(SplitConventions, FatTailOfPhysicsNemoIsAListOfSizes) {
  EXPECT_EQ(sizes_by("p:sizes[1,1,1,3]", 6, 4), (Sizes{1, 1, 1, 3}));
  EXPECT_EQ(sizes_by("p:sizes[0,0,0,3]", 3, 4), (Sizes{0, 0, 0, 3}));
}

TEST(SplitConventions, TorchHarmonicsGridsAreBalanced) {
  EXPECT_EQ(sizes_by("p:balanced", 128, 3), (Sizes{43, 43, 42}));
  EXPECT_EQ(sizes_by("p:balanced", 361, 4), (Sizes{91, 90, 90, 90}));
}

// ScaLAPACK: blocks of 2 dealt to 3 columns.
TEST(SplitConventions, CyclicDealsBlocks) {
  const Layout l = layout("f32[11] on (p=3) {0: p:cyclic(2)}");
  EXPECT_EQ(held_by(l, 0), (Sizes{0, 1, 6, 7}));
  EXPECT_EQ(held_by(l, 1), (Sizes{2, 3, 8, 9}));
  EXPECT_EQ(held_by(l, 2), (Sizes{4, 5, 10}));
}

TEST(SplitConventions, UnitsStayWhole) {
  EXPECT_EQ(sizes_by("p:balanced/128", 8 * 128, 3), (Sizes{384, 384, 256}));
  EXPECT_EQ(sizes_by("p/2", 10, 4), (Sizes{4, 4, 2, 0}));
  EXPECT_THROW(sizes_by("p/3", 10, 4), Error);
}

}  // namespace
}  // namespace reshard
