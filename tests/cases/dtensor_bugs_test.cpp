// Faults that PyTorch's DTensor and its checkpoints had, by number of the report: what is right, kept right.
#include "cases/moved.h"
#include "reshard/boxes.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

// Every element of the tensor is in some box, and none is in two different boxes.
void expect_whole(const BoxList& boxes) {
  for (const BoxFault& fault : check_boxes(boxes)) ADD_FAILURE() << fault.message;
}

// Gathering an uneven tensor that two mesh axes cut brought rows to wrong places, without an error.
TEST(DtensorBug, Pytorch194457NestedUnevenShardsAreGathered) {
  const Moved m("i32[5,3] on (a=2, b=2) {0: a b}", "i32[5,3] on (a=2, b=2)");
  EXPECT_EQ(sizes_of(m.made().source()), (Values{2, 1, 1, 1}));
  for (Index rank = 0; rank < 4; ++rank) EXPECT_EQ(m.after(rank), from_to(0, 15)) << rank;
  const Moved inner("i32[5,3] on (a=2, b=2) {0: a b}", "i32[5,3] on (a=2, b=2) {0: a}");
  for (Index rank = 0; rank < 4; ++rank)
    EXPECT_EQ(inner.after(rank), rank < 2 ? from_to(0, 9) : from_to(9, 15)) << rank;
  const Moved outer("i32[5,3] on (a=2, b=2) {0: a b}", "i32[5,3] on (a=2, b=2) {0: b}");
  for (Index rank = 0; rank < 4; ++rank)
    EXPECT_EQ(outer.after(rank), rank % 2 == 0 ? from_to(0, 9) : from_to(9, 15)) << rank;
}

// Empty shards had the offsets of real ones, so that a checkpoint kept one of the two.
TEST(DtensorBug, Pytorch161368EmptyShardsShareNoOffsetWithRealOnes) {
  const Layout l = layout("f32[2] on (a=2, b=4) {0: a b}");
  EXPECT_EQ(sizes_of(l), (Values{1, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(segments_of(l, 0), "(0,0,1)");
  EXPECT_EQ(segments_of(l, 4), "(0,1,1)");
  for (const Index empty : {1, 2, 3, 5, 6, 7}) EXPECT_EQ(segments_of(l, empty), "") << empty;
  expect_whole(boxes_of(l));
  EXPECT_EQ(Moved(l.text(), "f32[2] on ()@8").after(8), (Values{0, 1}));
}

TEST(DtensorBug, Pytorch150862LastShardsOf512Over30) {
  const Layout l = layout("f32[512] on (r=30) {0: r}");
  EXPECT_EQ(offsets_of(l)[28], 504);
  EXPECT_EQ(offsets_of(l)[29], 512);
  expect_whole(boxes_of(l));
  EXPECT_EQ(Moved(l.text(), "f32[512] on (r=7)@30 {0: r}").after(36), from_to(444, 512));
}

// Sizes by floor at offsets by ceil: [3,3,3] at [0,2,4].
TEST(DtensorBug, Pytorch188947SizesAndOffsetsFollowOneRule) {
  const Layout l = from_dtensor(Dtype::f32, {7}, mesh("(r=3)"), "S(0)");
  EXPECT_EQ(sizes_of(l), (Values{3, 3, 1}));
  EXPECT_EQ(offsets_of(l), (Values{0, 3, 6}));
  expect_whole(boxes_of(l));
}

// Columns of 2, 3, 4 and 5 were taken for 4, 4, 4 and 2.
TEST(DtensorBug, Pytorch144109RaggedShardsKeepTheirSizes) {
  const char* const ragged = "i32[2,14] on (r=4) {1: r:sizes[2,3,4,5]}";
  EXPECT_EQ(sizes_of(layout(ragged), 1), (Values{2, 3, 4, 5}));
  EXPECT_EQ(sizes_of(layout("i32[2,14] on (r=4) {1: r}"), 1), (Values{4, 4, 4, 2}));
  EXPECT_FALSE(same_ownership(layout(ragged), layout("i32[2,14] on (r=4) {1: r}")));
  EXPECT_EQ(Moved(ragged, "i32[2,14] on ()@4").after(4), from_to(0, 28));
  EXPECT_EQ(plan(layout(ragged), layout("i32[2,14] on (r=4) {1: r}")).certificate().sent, 8 * 2 * 4);
}

// Strides of a shard that is shorter than the others, or of a transposed tensor, were those of another.
TEST(DtensorBug, Pytorch118836StridesAreThoseOfTheOwnShard) {
  const Layout l = layout("f32[5,7] on (a=2, b=2) {0: a, 1: b}");
  const std::vector<Values> extents = {{3, 4}, {3, 3}, {2, 4}, {2, 3}};
  const std::vector<int> swapped = {1, 0};
  for (Index rank = 0; rank < 4; ++rank) {
    const Values& mine = extents[static_cast<std::size_t>(rank)];
    EXPECT_EQ(l.storage(RankId(rank)).extents, mine) << rank;
    EXPECT_EQ(l.storage(RankId(rank)).strides, (Values{mine[1], 1})) << rank;
    EXPECT_EQ(l.transposed(swapped).storage(RankId(rank)).strides, (Values{1, mine[1]})) << rank;
  }
}

// Two readings of a strided shard of odd length are in use. Each can be written, and they are different layouts.
TEST(DtensorBug, Pytorch168134BothReadingsOfAStridedShard) {
  const std::string ragged = "i32[5] on (r=2) {0: r:strided-shard(2)}";  // pieces of 3 and 2, each cut by its own ceil
  const std::string padded = "i32[5] on (r=2) {0: r:parts[3,2]:cyclic(2)}";  // both cut as if they had 3
  EXPECT_EQ(held_by(layout(ragged), 0), (Values{0, 1, 3}));
  EXPECT_EQ(held_by(layout(padded), 0), (Values{0, 1, 3, 4}));
  EXPECT_EQ(held_by(layout(padded), 1), (Values{2}));
  EXPECT_FALSE(same_ownership(layout(ragged), layout(padded)));
  const Moved m(ragged, padded);
  EXPECT_EQ(m.made().certificate().messages, 1);  // element 4
  EXPECT_EQ(m.after(0), (Values{0, 1, 3, 4}));
  EXPECT_TRUE(same_ownership(layout("i32[6] on (r=2) {0: r:strided-shard(2)}"),
                             layout("i32[6] on (r=2) {0: r:parts[3,3]:cyclic(2)}")));
}

}  // namespace
}  // namespace reshard
