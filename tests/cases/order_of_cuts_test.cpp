// Class B: order of nested, strided and packed sharding.
#include "cases/moved.h"
#include "reshard/error.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

// We keep the ragged rule; the padded-grid rule would give {0,1,3,4} and {2}.
TEST(CaseB, B1StridedShardOfOddLength) {
  const Moved five("i32[5] on (r=2) {0: r:strided-shard(2)}", "i32[5] on (r=2)");
  EXPECT_EQ(five.before(0), (Values{0, 1, 3}));
  EXPECT_EQ(five.before(1), (Values{2, 4}));
  EXPECT_EQ(five.after(1), from_to(0, 5));
  const Moved six("i32[6] on (r=2) {0: r:strided-shard(2)}", "i32[6] on (r=2)");
  EXPECT_EQ(six.before(0), (Values{0, 1, 3, 4}));
  EXPECT_EQ(six.before(1), (Values{2, 5}));
}

TEST(CaseB, B3DataParallelOverTensorParallel) {
  const Layout l = layout("i32[6] on (dp=2, tp=2) {0: tp dp}");
  EXPECT_EQ(held_by(l, 0), (Values{0, 1}));
  EXPECT_EQ(held_by(l, 1), (Values{3, 4}));
  EXPECT_EQ(held_by(l, 2), (Values{2}));
  EXPECT_EQ(held_by(l, 3), (Values{5}));
  const Layout tall = layout("i32[6,17] on (dp=4, tp=2) {0: tp dp}");
  EXPECT_EQ(sizes_of(tall), (Values{1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(held_by(tall, 1), (Values{3}));
  EXPECT_EQ(held_by(tall, 4), (Values{2}));
  EXPECT_EQ(tall.storage(RankId(7)).extents, (Values{0, 17}));
  EXPECT_FALSE(same_ownership(l, layout("i32[6] on (dp=2, tp=2) {0: dp tp}")));
}

TEST(CaseB, B4EqualShapesInAnotherOrderAreAnotherLayout) {
  const Moved m("i32[4,4] on (a=2, b=2) {0: b a}", "i32[4,4] on (a=2, b=2) {0: a b}");
  EXPECT_NE(m.made().source(), m.made().target());
  EXPECT_FALSE(same_ownership(m.made().source(), m.made().target()));
  EXPECT_EQ(m.before(1), from_to(8, 12));
  EXPECT_EQ(m.before(2), from_to(4, 8));
  EXPECT_EQ(m.after(1), from_to(4, 8));
  EXPECT_EQ(m.after(2), from_to(8, 12));
  const Certificate c = m.made().certificate();
  EXPECT_EQ(c.messages, 2);
  EXPECT_EQ(c.sent, 2 * 4 * 4);
  // Gathered, both are the same matrix: its square shows rows in the wrong place.
  for (const char* source : {"i32[4,4] on (a=2, b=2) {0: b a}", "i32[4,4] on (a=2, b=2) {0: a b}"}) {
    const Values matrix = Moved(source, "i32[4,4] on ()").after(0);
    Values square(16, 0);
    for (std::size_t k = 0; k < 64; ++k) square[k / 16 * 4 + k % 4] += matrix[k / 4] * matrix[k / 4 % 4 * 4 + k % 4];
    EXPECT_EQ(square, (Values{56, 62, 68, 74, 152, 174, 196, 218, 248, 286, 324, 362, 344, 398, 452, 506}));
  }
}

TEST(CaseB, B5GateAndUpOnOtherRankCounts) {
  const std::string eight = "i32[16,1] on (tp=8) {0: tp:strided(2)}";
  for (Index r = 0; r < 8; ++r) EXPECT_EQ(held_by(layout(eight), r), (Values{r, 8 + r}));
  const Moved two(eight, "i32[16,1] on (tp=2) {0: tp:strided(2)}");
  EXPECT_EQ(two.after(0), (Values{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(two.after(1), (Values{4, 5, 6, 7, 12, 13, 14, 15}));
  const Moved four(eight, "i32[16,1] on (tp=4) {0: tp:parts[8,8]}");
  EXPECT_EQ(four.after(3), (Values{6, 7, 14, 15}));
  EXPECT_EQ(Moved(eight, "i32[16,1] on (tp=1) {0: tp:strided(2)}").after(0), from_to(0, 16));
}

TEST(CaseB, B6NegativeDimensionsAreNormalised) {
  const Mesh m = mesh("(r=4)");
  const Layout last = from_dtensor(Dtype::f32, {8, 6}, m, "S(-1)");
  EXPECT_EQ(last, from_dtensor(Dtype::f32, {8, 6}, m, "S(1)"));
  EXPECT_EQ(last.fingerprint(), from_dtensor(Dtype::f32, {8, 6}, m, "S(1)").fingerprint());
  EXPECT_EQ(plan(from_dtensor(Dtype::f32, {8, 6}, m, "S(1)"), last).certificate().sent, 0);
  EXPECT_THROW(from_dtensor(Dtype::f32, {8, 6}, m, "S(2)"), Error);
  EXPECT_THROW(from_dtensor(Dtype::f32, {8, 6}, m, "S(-3)"), Error);
}

// Class M: what packed cuts and fused tensors mean, by position.
TEST(CaseM, M1GroupedQkvInRowsOfThree) {
  // Rows q0-q3 k0 v0 q4-q7 k1 v1; four ranks of three rows.
  const char* const fused = " on (r=4) {0: r}";
  const auto source = [&](const char* rows) { return std::string("f32[12]") + rows + fused; };
  EXPECT_EQ(received_by(plan(layout(source("[0:4]")), layout("f32[8][0:4] on (only=1)@4")), 4),
            "(0,[0:3]->[0:3]) (1,[0:1]->[3:4])");
  EXPECT_EQ(received_by(plan(layout(source("[6:10]")), layout("f32[8][4:8] on (only=1)@4")), 4),
            "(2,[0:3]->[4:7]) (3,[0:1]->[7:8])");
  EXPECT_EQ(received_by(plan(layout(source("[4:5]")), layout("f32[2][0:1] on (only=1)@4")), 4), "(1,[1:2]->[0:1])");
  EXPECT_EQ(received_by(plan(layout(source("[11:12]")), layout("f32[2][1:2] on (only=1)@4")), 4), "(3,[2:3]->[1:2])");
  EXPECT_EQ(received_by(plan(layout(source("[6:10]")), layout("f32[8][4:8] on (tp=2)@4 {0: tp}")), 5),
            "(2,[0:3]->[0:3]) (3,[0:1]->[3:4])");
}

TEST(CaseM, M2ReplicatedHeadsAreReadOnce) {
  const Moved m("f32[2] on (tp=4 as (kv=2, rep=2)) {0: kv}", "f32[2] on (only=1)@4");
  EXPECT_EQ(m.before(1), (Values{0}));
  EXPECT_EQ(m.before(2), (Values{1}));
  EXPECT_EQ(m.after(4), (Values{0, 1}));
  EXPECT_EQ(m.made().certificate().messages, 2);
}

TEST(CaseM, M4GatherOfPackedIsNotConcatenation) {
  const Moved m("f32[6] on (tp=2) {0: tp:packed[1,1,1]}", "f32[6] on (tp=2)");
  EXPECT_EQ(m.before(0), (Values{0, 2, 4}));
  EXPECT_EQ(m.before(1), (Values{1, 3, 5}));
  EXPECT_EQ(m.after(0), from_to(0, 6));
}

}  // namespace
}  // namespace reshard
