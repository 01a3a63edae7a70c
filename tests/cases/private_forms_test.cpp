// A receiver that has repacked its weights into a form of its own: nothing is written into it, or read from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/error.h"
#include "reshard/plan.h"
#include "reshard/world.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const char* const plain = "bf16[8,8] on (only=1)";
const char* const blocked = "bf16[8,8] on (tp=2)@1 {0: tp} private(blocked)";

template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported);
    return error.what();
  }
  return "nothing was refused";
}

TEST(CaseM, M5PrivateFormsAreDescribedAndComparedButNeverMoved) {
  const Layout target = layout(blocked);
  EXPECT_EQ(target.text(), blocked);
  EXPECT_EQ(layout(target.text()), target);
  EXPECT_FALSE(target == layout("bf16[8,8] on (tp=2)@1 {0: tp}"));
  EXPECT_TRUE(same_ownership(target, layout("bf16[8,8] on (tp=2)@1 {0: tp}")));
  EXPECT_EQ(target.region(RankId(2)).dims[0].front().global, GlobalIndex(4));

  const auto named = AllOf(HasSubstr("private(blocked)"), HasSubstr("the form \"blocked\" is private to its owner"));
  EXPECT_THAT(refusal([&] { plan(layout(plain), target); }), named);
  EXPECT_THAT(refusal([&] { plan(target, layout(plain)); }), named);
  EXPECT_THAT(refusal([&] { plan(target, target); }), named);
  EXPECT_THAT(refusal([&] { plan_receives(layout(plain), target, RankId(1)); }), named);
  EXPECT_THAT(refusal([&] { plan_sends(layout(plain), target, RankId(0)); }), named);
}

TEST(CaseM, M5PrivateFormsHaveNoStorageThatOthersKnow) {
  const Layout target = layout(blocked);
  EXPECT_THAT(refusal([&] { target.storage(RankId(1)); }), HasSubstr("\"blocked\""));
  EXPECT_THAT(refusal([&] { target.local_bytes(RankId(1)); }), HasSubstr("\"blocked\""));
  EXPECT_THAT(refusal([&] { target.transposed(std::vector<int>{1, 0}); }), HasSubstr("\"blocked\""));
  thread_ranks(3, [&](World& world) {
    EXPECT_THAT(refusal([&] { world.allocate(target, "experts.w13"); }), HasSubstr("\"blocked\""));
    Tensor source = world.allocate(layout(plain), "experts.w13");  // the refusal was collective: the world goes on
    EXPECT_EQ(source.layout(), layout(plain));
  });
}

TEST(CaseM, M5PrivateFormsStandAlone) {
  EXPECT_THROW(layout("bf16[8,8] on (tp=2) {0: tp} order(1,0) private(blocked)"), Error);
  EXPECT_THROW(layout("bf16[8,8][0:4, :] on (tp=2) {0: tp} private(blocked)"), Error);
  EXPECT_THROW(layout("bf16[8,8] on (tp=2) {0: tp} private()"), Error);
  LayoutSpec spec = layout(blocked).spec();
  spec.storage.strides = {8, 1};
  EXPECT_THROW(Layout{spec}, Error);
}

}  // namespace
}  // namespace reshard
