#include "reshard/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "reshard/error.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Make>
std::string refusal(Make make) {
  try {
    make();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Layout, SameOwnershipComparesWhatIsHeld) {
  const Layout chunks = layout("f32[8,6] on (r=4) {0: r}");
  EXPECT_TRUE(same_ownership(chunks, layout("f32[8,6] on (r=4) {0: r:balanced}")));
  EXPECT_TRUE(same_ownership(chunks, layout("f32[8,6] on (a=2, b=2) {0: a b} order(1,0)")));
  EXPECT_FALSE(same_ownership(chunks, layout("f32[8,6] on (r=4)@1 {0: r}")));
  EXPECT_FALSE(same_ownership(chunks, layout("f32[8,6] on (r=4) {1: r}")));
  EXPECT_FALSE(same_ownership(chunks, layout("f32[8,6] on (a=2, b=2) {0: b a}")));
  EXPECT_FALSE(same_ownership(chunks, layout("f32[6,8] on (r=4) {0: r}")));
  // A mesh with more ranks, which hold nothing.
  EXPECT_TRUE(same_ownership(layout("f32[4] on (r=4) {0: r}"), layout("f32[4] on (r=6) {0: r}")));
  EXPECT_FALSE(same_ownership(layout("f32[5] on (r=4) {0: r}"), layout("f32[5] on (r=4) {0: r:balanced}")));
  EXPECT_TRUE(same_ownership(layout("f32[] on (r=2)"), layout("i8[] on (a=2)")));
}

TEST(Layout, VaryingIsHeldAsReplicatedIs) {
  const Layout invariant = layout("f32[8] on (a=2, b=3) {0: a}"),
               varying = layout("f32[8] on (a=2, b=3) {0: a, b: varying}");
  EXPECT_TRUE(same_ownership(invariant, varying));
  EXPECT_FALSE(varying.has_partial());
  EXPECT_FALSE(invariant == varying);
  EXPECT_NE(invariant.fingerprint(), varying.fingerprint());
  for (RankId rank(0); rank < RankId(6); ++rank) EXPECT_EQ(invariant.storage(rank), varying.storage(rank));
  EXPECT_EQ(varying.with_shape({12}).text(), "f32[12] on (a=2, b=3) {0: a, b: varying}");
  EXPECT_EQ(varying.transposed(std::array{0}), varying);
}

TEST(Layout, TransposedKeepsEveryElementWhereItIs) {
  const Layout l = layout("f32[4,6,5] on (a=2, b=3) {0: a, 1: b:cyclic(1)}");
  const std::array order{2, 0, 1};
  const Layout t = l.transposed(order);
  EXPECT_THAT(t.shape(), ElementsAre(5, 4, 6));
  for (RankId rank(0); rank < RankId(6); ++rank) {
    const LocalStorage before = l.storage(rank), after = t.storage(rank);
    EXPECT_EQ(after.elements, before.elements);
    for (std::size_t dim = 0; dim < 3; ++dim) {
      const auto from = static_cast<std::size_t>(order[dim]);
      EXPECT_EQ(t.region(rank).dims[dim], l.region(rank).dims[from]);
      EXPECT_EQ(after.strides[dim], before.strides[from]);
    }
  }
  const std::array back{1, 2, 0};
  EXPECT_EQ(t.transposed(back), l);
  EXPECT_THAT(refusal([&] { l.transposed(std::array{0, 0, 1}); }), HasSubstr("transpose(0,0,1) must name each"));
}

TEST(Layout, TransposedViewsKeepTheirDroppedDimensions) {
  const Layout l = layout("bf16[8,3,4][:, 1, 2:4] on (r=2) {0: r}");
  EXPECT_THAT(l.shape(), ElementsAre(8, 2));
  EXPECT_EQ(l.transposed(std::array{0, 1}), l);
  const Layout t = l.transposed(std::array{1, 0});
  EXPECT_EQ(t.text(), "bf16[4,3,8][2:4, 1, :] on (r=2) {2: r} order(2,1,0)");
  EXPECT_THAT(t.storage(RankId(1)).strides, ElementsAre(1, 12));
  EXPECT_EQ(t.storage(RankId(1)).offset, l.storage(RankId(1)).offset);
  EXPECT_EQ(t.transposed(std::array{1, 0}), l);
}

TEST(Layout, ViewsWithDroppedDimensions) {
  const Layout l = layout("bf16[8,16,4][3, :, 1:3] on (ep=4) {0: ep}");
  EXPECT_THAT(l.shape(), ElementsAre(16, 2));
  EXPECT_THAT(l.stored_dims(), ElementsAre(1, 2));
  EXPECT_EQ(l.region(RankId(0)).held, false);
  const Region region = l.region(RankId(1));
  EXPECT_EQ(region.dims[1], (Segments{{LocalIndex(1), GlobalIndex(0), 2}}));
  const LocalStorage storage = l.storage(RankId(1));
  EXPECT_EQ(storage.offset, 64);  // entry 3 is the second of rank 1
  EXPECT_THAT(storage.extents, ElementsAre(16, 4));
  EXPECT_EQ(storage.elements, 128);
}

TEST(Layout, WithShapeKeepsTheCuts) {
  const Layout l = layout("f32[8,6] on (a=2) {0: a:even}");
  EXPECT_EQ(l.with_shape({10, 3}), layout("f32[10,3] on (a=2) {0: a:even}"));
  EXPECT_THAT(refusal([&] {
                l.with_shape({9, 3});
              }),
              HasSubstr("dimension 0 of f32[9,3], axis \"a\": 9 elements cannot be cut evenly in 2 (remainder 1)"));
  EXPECT_THAT(refusal([&] { l.with_shape({}); }), HasSubstr("1 is cut, but the tensor has 0 dimensions"));
  EXPECT_EQ(l.with_dtype(Dtype::bf16).text(), "bf16[8,6] on (a=2) {0: a:even}");
}

TEST(Layout, SizesNear2To62) {
  const Layout cyclic = layout("u8[4611686018427387904] on (a=2) {0: a:cyclic(4611686018427387903)}");
  EXPECT_EQ(cyclic.region(RankId(0)).elements(), (Index{1} << 62) - 1);
  EXPECT_EQ(cyclic.region(RankId(1)).elements(), 1);
  const Layout floor = layout("u8[4611686018427387904] on (a=4611686018427387904) {0: a:floor}");
  EXPECT_EQ(floor.region(RankId((Index{1} << 62) - 1)).dims[0],
            (Segments{{LocalIndex(0), GlobalIndex((Index{1} << 62) - 1), 1}}));
}

// Strides of an empty tensor are products too.
TEST(Layout, EmptyTensorsWithHugeExtents) {
  EXPECT_THAT(refusal([] { layout("f32[0,4611686018427387904,4611686018427387904] on ()"); }),
              HasSubstr("does not fit in 64 bits"));
  const Layout strided = layout("f32[0,0] on () strides(9223372036854775807,9223372036854775807)");
  EXPECT_EQ(strided.local_bytes(RankId(0)), 0);
  EXPECT_THAT(refusal([] { layout("f32[4][9223372036854775807] on ()"); }),
              HasSubstr("a slice of 1 from 9223372036854775807 on is outside dimension 0"));
}

TEST(Layout, RunsPastAllMemoryAreRefused) {
  for (const char* cut : {"strided-shard(1000000000000)", "strided(500000000000)", "cyclic(1)"}) {
    const Layout l = layout("f32[1000000000000] on (a=2) {0: a:" + std::string(cut) + "}");
    EXPECT_THAT(refusal([&] { l.region(RankId(1)); }),
                HasSubstr("dimension 0 of f32[1000000000000]: its cuts make more than 16777216 runs"));
  }
  const Layout whole = layout("f32[1000000000000] on (a=1) {0: a:cyclic(1)}");
  EXPECT_EQ(whole.region(RankId(0)).dims[0].size(), 1u);
}

// With more than a few coordinates, lengths are derived: every length that occurs must be among them.
TEST(Layout, ANestedEvenCutSeesEveryLength) {
  EXPECT_THAT(refusal([] { layout("f32[10000] on (a=5000, b=2) {0: a:parts[2999,7001]:floor b:even}"); }),
              HasSubstr("1 elements cannot be cut evenly in 2"));
  const Layout even = layout("f32[20000] on (a=5000, b=2) {0: a:parts[10000,10000]:floor b:even}");
  EXPECT_EQ(even.region(RankId(9999)).elements(), 2);
  EXPECT_THAT(refusal([] { layout("f32[10] on (a=5000000) {0: a:parts[3,7]:floor}"); }),
              HasSubstr("axis \"a\": parts divided by floor among 5000000 coordinates"));
}

}  // namespace
}  // namespace reshard
