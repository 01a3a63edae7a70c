// Class C, and J where a dimension is smaller than its group: contributions of nothing.
#include <algorithm>

#include "cases/moved.h"
#include "reshard/error.h"

namespace reshard {
namespace {

// A rank that has nothing to send is in no message, at either end.
TEST(CaseC, C1ARankThatSendsNothing) {
  const Moved m("f32[2,3] on (r=2) {0: r:sizes[2,0]}", "f32[2,3] on (r=2) {0: r}");
  EXPECT_EQ(m.before(1), (Values{}));
  EXPECT_EQ(m.after(0), from_to(0, 3));
  EXPECT_EQ(m.after(1), from_to(3, 6));
  EXPECT_EQ(m.made().certificate().messages, 1);
  EXPECT_TRUE(plan_sends(m.made().source(), m.made().target(), RankId(1)).empty());
  EXPECT_EQ(received_by(m.made(), 1), "(0,[1:2,0:3]->[0:1,0:3])");
}

TEST(CaseC, C2LastRankOfAFlattenedTensorIsEmpty) {
  const Layout rows = layout("f32[6,256] on (r=4) {0: r}");
  EXPECT_EQ(sizes_of(rows), (Values{2, 2, 2, 0}));
  const Moved flat("f32[1536] on (r=4) {0: r:sizes[512,512,512,0]}", "f32[1536] on (r=4)");
  EXPECT_EQ(flat.after(3), from_to(0, 1536));
}

TEST(CaseC, C3ZeroDimensionsMoveNothing) {
  const Moved m("f32[4,0,2] on (r=4) {0: r}", "f32[4,0,2] on (r=4)");
  EXPECT_TRUE(m.made().transfers().empty());
  EXPECT_EQ(layout("f32[4,0,2] on (r=4) {0: r}").storage(RankId(2)).extents, (Values{1, 0, 2}));
  EXPECT_EQ(layout("f32[4,0,2] on (r=4) {0: r}").local_bytes(RankId(2)), 0);
  EXPECT_TRUE(m.made().certificate().optimal());
}

TEST(CaseC, C4GatherToOneRootWithEmptyRanks) {
  const char* const source = "f32[10] on (r=8) {0: r:sizes[3,0,2,0,1,0,0,4]}";
  for (const Index root : {0, 1}) {
    const Moved m(source, "f32[10] on (r=8) {r: at(" + std::to_string(root) + ")}");
    EXPECT_EQ(m.after(root), from_to(0, 10));
    EXPECT_EQ(m.made().certificate().messages, root == 0 ? 3 : 4);
  }
}

TEST(CaseC, C10EmptyShardIsNotMistakenForARealOne) {
  const Layout l = layout("f32[512] on (r=30) {0: r}");
  EXPECT_EQ(segments_of(l, 28), "(0,504,8)");
  EXPECT_EQ(segments_of(l, 29), "");  // no segment, so no offset that could equal a real one
  EXPECT_EQ(Moved("f32[512] on (r=30) {0: r}", "f32[512] on (only=1)@31").after(31), from_to(0, 512));
}

TEST(CaseC, C12OffsetsNeverDecrease) {
  const Values offsets = offsets_of(layout("f32[1024] on (r=53) {0: r}"));
  EXPECT_EQ(offsets[51], 1020);
  EXPECT_EQ(offsets[52], 1024);
  EXPECT_TRUE(std::ranges::is_sorted(offsets));
}

TEST(CaseC, TensorsWithoutDimensionsHaveOneElement) {
  const Moved m("f32[] on (r=2)@0", "f32[] on (r=3)@1");
  EXPECT_EQ(m.after(3), (Values{0}));
  EXPECT_EQ(m.made().certificate().sent, 2 * 4);  // rank 1 has it already
  EXPECT_THROW(layout("f32[] on (r=2) {0: r}"), Error);
}

TEST(CaseJ, J6DimensionSmallerThanTheGroup) {
  const Moved m("f32[1,4,6] on (r=2) {1: r}", "f32[1,4,6] on (r=2) {0: r}");
  EXPECT_EQ(m.after(0), from_to(0, 24));
  EXPECT_EQ(m.after(1), (Values{}));
  const Moved back("f32[1,4,6] on (r=2) {0: r}", "f32[1,4,6] on (r=2) {1: r}");
  EXPECT_EQ(back.after(1), from_to(12, 24));
  EXPECT_EQ(sizes_of(layout("f32[3,2] on (r=4) {0: r}")), (Values{1, 1, 1, 0}));
}

TEST(CaseJ, J8UnevenTransposeHasItsOwnOffsetsOnEachSide) {
  const Moved m("f32[5,4] on (r=2) {0: r}", "f32[5,4] on (r=2) {1: r}");
  EXPECT_EQ(m.after(0), (Values{0, 1, 4, 5, 8, 9, 12, 13, 16, 17}));
  EXPECT_EQ(m.after(1), (Values{2, 3, 6, 7, 10, 11, 14, 15, 18, 19}));
  const Moved three("f32[7,5] on (r=3) {0: r}", "f32[7,5] on (r=3) {1: r}");
  EXPECT_EQ(three.after(2), (Values{4, 9, 14, 19, 24, 29, 34}));
}

TEST(CaseJ, J10CutsFitTheTensor) {
  EXPECT_THROW(layout("f32[2,2,2] on (r=2) {3: r}"), Error);
  EXPECT_EQ(sizes_of(layout("f32[1] on (r=2) {0: r}")), (Values{1, 0}));
}

}  // namespace
}  // namespace reshard
