// Class I: rank naming and mesh membership.
#include "cases/moved.h"
#include "reshard/error.h"

namespace reshard {
namespace {

TEST(CaseI, I1RanksAreGlobal) {
  const Moved m("f32[4] on (r=2)@2 {r: at(0)}", "f32[4] on (r=2)@2 {0: r}");
  EXPECT_EQ(m.after(2), (Values{0, 1}));
  EXPECT_EQ(m.after(3), (Values{2, 3}));
  EXPECT_FALSE(m.made().target().mesh().contains(RankId(0)));
  EXPECT_TRUE(plan_sends(m.made().source(), m.made().target(), RankId(0)).empty());
}

TEST(CaseI, I2TheListedOrderIsTheOrder) {
  const Layout two = layout("f32[4] on (r=2)@[5,2] {0: r}");
  EXPECT_EQ(held_by(two, 5), (Values{0, 1}));
  EXPECT_EQ(held_by(two, 2), (Values{2, 3}));
  const Layout four = layout("f32[8] on (r=4)@[4,7,5,6] {0: r}");
  EXPECT_EQ(held_by(four, 4), (Values{0, 1}));
  EXPECT_EQ(held_by(four, 7), (Values{2, 3}));
  EXPECT_EQ(held_by(four, 5), (Values{4, 5}));
  EXPECT_EQ(held_by(four, 6), (Values{6, 7}));
  EXPECT_EQ(Moved("f32[8] on (r=4)@[4,7,5,6] {0: r}", "f32[8] on (r=4)@4 {0: r}").after(5), (Values{2, 3}));
}

TEST(CaseI, I3MembersOfSourceTargetBothOrNone) {
  const Layout source = layout("f32[6,2] on (a=2, b=3) {0: a b}");
  const Layout target = layout("f32[6,2] on (r=2)@[6,7] {0: r}");
  const Moved m(source.text(), target.text());
  EXPECT_EQ(m.after(6), from_to(0, 6));
  EXPECT_EQ(m.after(7), from_to(6, 12));
  for (Index rank = 0; rank < 6; ++rank) EXPECT_TRUE(plan_receives(source, target, RankId(rank)).empty());
  for (const Index stranger : {6, 8, 1000}) {
    EXPECT_FALSE(source.region(RankId(stranger)).held);
    EXPECT_EQ(source.local_bytes(RankId(stranger)), 0);
    EXPECT_TRUE(plan_sends(source, target, RankId(stranger)).empty());
  }
}

TEST(CaseI, I5OwnersComeFromTheMeshList) {
  for (const auto& [rows, owner, first] : {std::tuple("[0:2]", 1, 0), std::tuple("[2:4]", 2, 0)}) {
    const Plan p = plan(layout(std::string("f32[4]") + rows + " on (r=2)@1 {0: r}"), layout("f32[2] on (only=1)"));
    EXPECT_EQ(received_by(p, 0), "(" + std::to_string(owner) + ",[" + std::to_string(first) + ":2]->[0:2])");
  }
}

TEST(CaseI, OverlappingMeshesKeepWhatIsThere) {
  const Moved m("f32[8] on (r=4) {0: r}", "f32[8] on (r=4)@2 {0: r}");
  EXPECT_EQ(m.after(2), (Values{0, 1}));
  EXPECT_EQ(m.after(5), (Values{6, 7}));
  EXPECT_EQ(m.made().certificate().copied, 0);
  const Moved kept("f32[8] on (r=4) {0: r}", "f32[8] on (r=2)@[3,0] {0: r}");
  EXPECT_EQ(kept.after(3), from_to(0, 4));
  EXPECT_EQ(kept.after(0), from_to(4, 8));
}

TEST(CaseL, L5SlicesThatEndBeforeTheyBegin) {
  EXPECT_THROW(layout("f32[32,4][16:0, :] on (r=2) {0: r}"), Error);
  EXPECT_THROW(layout("f32[32,4][32:16, :] on (r=2) {0: r}"), Error);
  EXPECT_THROW(layout("f32[32,4][16:33, :] on (r=2) {0: r}"), Error);
  LayoutSpec spec;
  spec.shape = {32};
  spec.view = {Slice{GlobalIndex(16), -16, false}};
  EXPECT_THROW(Layout{spec}, Error);
}

}  // namespace
}  // namespace reshard
