// Class L: descriptions and plans that are stale, unbalanced, or taken for those of another rank.
#include <gmock/gmock.h>

#include "cases/moved.h"
#include "reshard/agreement.h"
#include "reshard/boxes.h"
#include "reshard/error.h"
#include "reshard/stamp.h"
#include "reshard/world.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The same sizes between other ranks are another move, also for a world that remembers its plans.
TEST(CaseL, L2EqualSizesOnOtherRanksAreAnotherMove) {
  thread_ranks(8, [](World& world) {
    for (const Index first : {0, 4}) {
      const std::string on = " on (r=2)@";
      Tensor source = world.allocate(layout("i64[8]" + on + std::to_string(first) + " {0: r}"));
      stamp(source, static_cast<std::uint64_t>(first));
      const Tensor target = redistribute(world, source, layout("i64[8]" + on + std::to_string(first + 2) + " {0: r}"));
      expect_stamped(target, static_cast<std::uint64_t>(first));
      if (target.bytes().empty() == (world.rank().value() / 2 == first / 2 + 1))
        throw std::logic_error("rank " + std::to_string(world.rank().value()) + " has the wrong part of the target");
    }
    if (world.cached_programs() != 2) throw std::logic_error("two moves share a plan");
  });
}

// One side worked out three transfers for a pair, the other two.
TEST(CaseL, L2UnbalancedEndsNameThePair) {
  const Layout source = layout("f32[12] on (r=2) {0: r}"), target = layout("f32[12] on (r=2)@2 {0: r:cyclic(2)}");
  const std::vector<Transfer> sends = plan_sends(source, target, RankId(0));
  const std::vector<Transfer> receives = plan_receives(source, target, RankId(2));
  const auto to_2 = [](const Transfer& t) { return t.target == RankId(2); };
  const Transfer message = *std::ranges::find_if(sends, to_2);
  const std::vector<Transfer> three(3, message), two(2, message);
  EXPECT_TRUE(check_agreement(two, two).empty());
  const std::vector<Fault> faults = check_agreement(three, two);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].message,
            "ranks 0 -> 2: 3 sent, 2 received; both ends must plan with the same layouts and options");
  // A plan with a message more is no plan either.
  const Plan right = plan(source, target);
  std::vector<Transfer> transfers(right.transfers().begin(), right.transfers().end());
  transfers.insert(transfers.begin() + 1, transfers.front());
  const std::vector<Fault> found = verify(Plan(source, target, {}, transfers));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "rank 2: transfers 0 and 1 write the same elements");
}

TEST(CaseL, L2EndsThatPlannedWithOtherOptionsDisagree) {
  const Layout source = layout("f32[8] on (r=2)"), target = layout("f32[8] on (r=2)@2");
  std::vector<Transfer> sends, receives;
  for (const Index rank : {0, 1})
    std::ranges::copy(plan_sends(source, target, RankId(rank)), std::back_inserter(sends));
  for (const Index rank : {2, 3})
    std::ranges::copy(plan_receives(source, target, RankId(rank), {.rotation = 1}), std::back_inserter(receives));
  std::vector<std::string> messages;
  for (const Fault& fault : check_agreement(sends, receives)) messages.push_back(fault.message);
  EXPECT_THAT(
      messages,
      ElementsAre(HasSubstr("ranks 0 -> 2: 1 sent, 0 received"), HasSubstr("ranks 0 -> 3: 0 sent, 1 received"),
                  HasSubstr("ranks 1 -> 2: 0 sent, 1 received"), HasSubstr("ranks 1 -> 3: 1 sent, 0 received")));
}

TEST(CaseL, L2EndsThatKnowOtherSizesDisagree) {
  const Layout target = layout("f32[8] on (r=2)@2 {0: r}");
  const std::vector<Transfer> sends = plan_sends(layout("f32[8] on (r=1)"), target, RankId(0));
  const std::vector<Transfer> stale =
      plan_receives(layout("f32[6] on (r=1)"), layout("f32[6] on (r=2)@2 {0: r}"), RankId(2));
  const std::vector<Fault> faults = check_agreement(std::span(sends).first(1), stale);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].message,
            "ranks 0 -> 2: transfer 0: along dimension 0 the sender has 0 > 0 +4 and the receiver 0 > 0 +3 "
            "(source > target +length)");
  EXPECT_TRUE(check_agreement({}, {}).empty());
}

// A plan that was written for other layouts, or of which a message was lost, is not believed.
TEST(CaseL, L2PlansReadFromAFileAreCheckedAgainstTheLayouts) {
  const Plan right = plan(layout("f32[8] on (r=2) {0: r}"), layout("f32[8] on (r=2)@2 {0: r}"));
  const Plan other = plan(layout("f32[8] on (r=2)@4 {0: r}"), layout("f32[8] on (r=2)@6 {0: r}"));
  const std::vector<Transfer> stale(other.transfers().begin(), other.transfers().end());
  const Plan mixed = plan_from_json(Plan(right.source(), right.target(), {}, stale).json());
  std::vector<std::string> messages;
  for (const Fault& fault : verify(mixed)) messages.push_back(fault.message);
  EXPECT_THAT(messages,
              ElementsAre("rank 2: 0 of 4 target elements are written", "rank 3: 0 of 4 target elements are written",
                          "transfer 0 (4 -> 6): rank 4 holds nothing of the source",
                          "transfer 0 (4 -> 6): rank 6 holds nothing of the target",
                          "transfer 1 (5 -> 7): rank 5 holds nothing of the source",
                          "transfer 1 (5 -> 7): rank 7 holds nothing of the target"));
}

// Rank 0 has one piece of a flat buffer, rank 1 has three: what rank 0 knows of itself says nothing of rank 1.
TEST(CaseL, L8RanksWithOtherNumbersOfPieces) {
  const auto piece = [](Index rank, Index begin, Index length) {
    return OwnedBox{RankId(rank), Box{{GlobalIndex(begin)}, {length}}};
  };
  const BoxList saved(Dtype::f32, {10}, {piece(0, 0, 5), piece(1, 5, 2), piece(1, 7, 2), piece(1, 9, 1)});
  EXPECT_TRUE(check_boxes(saved).empty());
  const BoxPlan restored = plan_boxes(saved, BoxList(Dtype::f32, {10}, {piece(2, 0, 10)}));
  std::vector<Index> elements;
  for (const BoxTransfer& transfer : restored.transfers)
    for (Index k = 0; k < transfer.region.sizes[0]; ++k) elements.push_back(transfer.region.offsets[0].value() + k);
  EXPECT_EQ(restored.transfers.size(), 4u);
  EXPECT_EQ(elements, from_to(0, 10));
  EXPECT_EQ(restored.sent, 10 * 4);
  // As a layout: a rank's pieces are runs of its own.
  const Moved m("f32[10] on (r=2) {0: r:sizes[5,5]}", "f32[10] on ()@2");
  EXPECT_EQ(m.after(2), from_to(0, 10));
  // One piece of rank 1 forgotten.
  const std::vector<BoxFault> faults =
      check_boxes(BoxList(Dtype::f32, {10}, {piece(0, 0, 5), piece(1, 5, 2), piece(1, 9, 1)}));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].region.text(), "[7:9]");
  EXPECT_THAT(faults[0].ranks, ElementsAre(RankId(1)));
}

// A buffer that is smaller than its description is refused before a byte moves (L1).
// f32 into a bf16 buffer: raw bytes would read 0.0, 1.0 where 1.0, 2.0 was sent.
TEST(CaseM, M7DtypesMustAgreeBeforeAByteMoves) {
  const Layout source = layout("f32[2] on (a=2) {0: a}"), target = layout("bf16[2] on (b=1)@2");
  for (const RankId rank : {RankId(0), RankId(1), RankId(2)}) try {
      rank == RankId(2) ? plan_receives(source, target, rank) : plan_sends(source, target, rank);
      ADD_FAILURE() << "rank " << rank.value() << " planned a move from f32 to bf16";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::invalid_argument);
      EXPECT_THAT(error.what(), testing::HasSubstr("source is f32 and target bf16: convert the dtype"));
    }
}

TEST(CaseL, L1SourceAndTargetDescribeOneShape) {
  try {
    plan(layout("f32[128,32] on (r=1)"), layout("f32[64,32] on (r=2)@1"));
    FAIL() << "shapes that differ were planned";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("source has shape [128,32] and target [64,32]"));
  }
}

}  // namespace
}  // namespace reshard
