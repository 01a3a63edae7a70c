// Class A: shard arithmetic on uneven sizes.
#include "cases/moved.h"
#include "reshard/boxes.h"
#include "reshard/error.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

TEST(CaseA, A1UnevenTensorCutTwiceOnOneDimension) {
  const Moved m("i64[5] on (a=2, b=2) {0: a b}", "i64[5] on (a=2, b=2)");
  EXPECT_EQ(m.before(0), (Values{0, 1}));
  EXPECT_EQ(m.before(1), (Values{2}));
  EXPECT_EQ(m.before(2), (Values{3}));
  EXPECT_EQ(m.before(3), (Values{4}));
  for (Index rank = 0; rank < 4; ++rank) EXPECT_EQ(m.after(rank), from_to(0, 5)) << rank;
}

TEST(CaseA, A3StridesFollowTheShortShard) {
  const Layout l = layout("f32[3,9] on (r=2) {1: r}");
  EXPECT_EQ(l.storage(RankId(0)).extents, (Values{3, 5}));
  EXPECT_EQ(l.storage(RankId(0)).strides, (Values{5, 1}));
  EXPECT_EQ(l.storage(RankId(1)).extents, (Values{3, 4}));
  EXPECT_EQ(l.storage(RankId(1)).strides, (Values{4, 1}));
}

// The global shape is always given; what each rank holds follows from it.
TEST(CaseA, A4GlobalShapeIsNotLocalTimesRanks) {
  EXPECT_EQ(sizes_of(layout("f32[10,2] on (r=4) {0: r}")), (Values{3, 3, 3, 1}));
  const Layout vocabulary = layout("bf16[128256,4096] on (r=10) {0: r}");
  Values sizes(9, 12826);
  sizes.push_back(12822);
  EXPECT_EQ(sizes_of(vocabulary), sizes);
  for (Index rank = 0; rank < 10; ++rank) EXPECT_EQ(vocabulary.shape(), (Values{128256, 4096}));
}

// Described by what each rank has, a tensor has the shape it is given, or a hole that is named.
TEST(CaseA, A4LocalShapesDoNotMakeUpAGlobalOne) {
  std::vector<OwnedBox> locals;
  for (Index rank = 0; rank < 4; ++rank)
    locals.push_back({RankId(rank), {{GlobalIndex(3 * rank), GlobalIndex(0)}, {rank < 3 ? 3 : 1, 2}}});
  EXPECT_TRUE(check_boxes(BoxList(Dtype::f32, {10, 2}, locals)).empty());
  EXPECT_EQ(boxes_of(layout("f32[10,2] on (r=4) {0: r}")).boxes(), locals);
  const std::vector<BoxFault> faults = check_boxes(BoxList(Dtype::f32, {12, 2}, locals));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].region.text(), "[10:12, 0:2]");
  EXPECT_THROW(BoxList(Dtype::f32, {4, 2}, locals), Error);
}

TEST(CaseA, A5GivenSizesAreKept) {
  const char* const given = "f32[2,14] on (r=4) {1: r:sizes[2,3,4,5]}";
  EXPECT_EQ(offsets_of(layout(given), 1), (Values{0, 2, 5, 9}));
  const Moved whole(given, "f32[2,14] on (r=4)");
  for (Index rank = 0; rank < 4; ++rank) EXPECT_EQ(whole.after(rank), from_to(0, 28)) << rank;
  const Moved chunks(given, "f32[2,14] on (r=4) {1: r}");
  EXPECT_EQ(chunks.after(0), (Values{0, 1, 2, 3, 14, 15, 16, 17}));
  EXPECT_EQ(chunks.after(1), (Values{4, 5, 6, 7, 18, 19, 20, 21}));
  EXPECT_EQ(chunks.after(2), (Values{8, 9, 10, 11, 22, 23, 24, 25}));
  EXPECT_EQ(chunks.after(3), (Values{12, 13, 26, 27}));
}

TEST(CaseA, A5SizesThatDoNotAddUpAreRefused) {
  EXPECT_THROW(layout("f32[2,14] on (r=4) {1: r:sizes[2,3,4,4]}"), Error);
  EXPECT_THROW(layout("f32[2,14] on (r=4) {1: r:sizes[2,3,9]}"), Error);
}

TEST(CaseA, A6VocabularyThatDoesNotDivide) {
  const char* const eight = "i32[151665,8] on (r=8) {0: r}";
  const char* const six = "i32[151665,8] on (r=6) {0: r}";
  Values sizes(7, 18959);
  sizes.push_back(18952);
  EXPECT_EQ(sizes_of(layout(eight)), sizes);
  EXPECT_EQ(sizes_of(layout(six)), (Values{25278, 25278, 25278, 25278, 25278, 25275}));
  const Moved there(eight, six);
  const Moved back(six, eight);
  for (Index rank = 0; rank < 8; ++rank) EXPECT_EQ(back.after(rank), there.before(rank)) << rank;
}

TEST(CaseA, A8BlockEqualToTheDimension) {
  EXPECT_EQ(sizes_of(layout("f32[6,5,4] on (r=2) {1: r:cyclic(5)}"), 1), (Values{5, 0}));
  EXPECT_EQ(sizes_of(layout("f32[6,5,4] on (r=2) {1: r:sizes[5,0]}"), 1), (Values{5, 0}));
  EXPECT_EQ(Moved("f32[6,5,4] on (r=2) {0: r}", "f32[6,5,4] on (r=2) {1: r:cyclic(5)}").after(0), from_to(0, 120));
}

TEST(CaseA, A9PencilKeepsItsRemainder) {
  Values sizes(16, 79);
  sizes.resize(32, 78);
  EXPECT_EQ(sizes_by("p:balanced", 2512, 32), sizes);
}

}  // namespace
}  // namespace reshard
