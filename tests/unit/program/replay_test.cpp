// Traces gone through with real bytes.
#include "reshard/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/error.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Everything that rank 0 does in one call, in order.
std::vector<TraceStep> steps_of_rank_0(const SymbolicProgram& program, Index ranks) {
  const Program unrolled = unroll(lower(program), {.ranks = ranks});
  std::vector<TraceStep> steps;
  for (const Operation& operation : unrolled.operations[0])
    steps.push_back({.operation = std::ssize(steps), .text = operation.label});
  return steps;
}

std::string message_of(const SymbolicProgram& program, const std::vector<TraceStep>& steps) {
  try {
    replay(program, steps);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

const SymbolicProgram& one_round() {
  static const SymbolicProgram program = parse_program(R"(program one_round
size n = 2
input x : i64[P, n]
output y : i64[P, n]
window data : i64[P, n]
signal ready[P]
init x[d, j] = call * 100000000 + me * 1000000 + d * 1000 + j
expect y[s, j] = x@s[me, j]

for d in 0..P { put data@d[me] <- x[d] }
fence
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= call }
for s in 0..P { copy y[s] <- data[s] }
)");
  return program;
}

// The put of the second call arrives before the slow rank has read what the first one left.
TEST(Replay, ShowsWhatALateReaderReads) {
  const CheckReport report = check(one_round(), {.ranks = 2, .calls = 2, .suggest = false});
  ASSERT_EQ(report.fault, CheckFault::race);
  const std::vector<ReplayedStep> steps = replay(one_round(), report.trace, {.ranks = 2});
  ASSERT_EQ(steps.size(), report.trace.size());
  const ReplayedStep& arrival = steps[steps.size() - 2];
  const ReplayedStep& reader = steps.back();
  ASSERT_TRUE(arrival.step.arrival);
  const Index slow = reader.step.rank.value(), fast = 1 - slow;
  const auto value = [&](Index call, Index place) {
    return std::to_string(call * 100000000 + fast * 1000000 + slow * 1000 + place);
  };
  ASSERT_EQ(arrival.written.size(), 1U);
  EXPECT_EQ(arrival.written[0].place, "data[" + std::to_string(fast) + "]");
  EXPECT_EQ(arrival.written[0].rank, RankId(slow));
  EXPECT_THAT(arrival.written[0].before, ElementsAre(value(1, 0), value(1, 1)));
  EXPECT_THAT(arrival.written[0].after, ElementsAre(value(2, 0), value(2, 1)));
  EXPECT_EQ(reader.read[0].after, arrival.written[0].after);
  EXPECT_THAT(reader.written[0].before, ElementsAre("-", "-"));
  EXPECT_EQ(reader.written[0].after, arrival.written[0].after);
}

TEST(Replay, APutThatArrivesLaterWritesThere) {
  const CheckReport report = check(one_round(), {.ranks = 2, .calls = 2, .suggest = false});
  const std::vector<ReplayedStep> steps = replay(one_round(), report.trace, {.ranks = 2});
  std::size_t late = 0;
  for (const ReplayedStep& step : steps)
    if (step.step.text.starts_with("put ") && step.written.empty()) ++late;
  EXPECT_EQ(late, 1U);
}

TEST(Replay, ShowsAllCountersAfterEachStep) {
  std::vector<TraceStep> steps = steps_of_rank_0(one_round(), 3);
  steps.resize(6);  // three puts, the fence, two notifications
  const std::vector<ReplayedStep> done = replay(one_round(), steps, {.ranks = 3});
  const auto counters = [](const ReplayedStep& step) {
    std::vector<std::uint64_t> slots;
    for (const ReplayedSignal& signal : step.signals)
      slots.insert(slots.end(), signal.slots.begin(), signal.slots.end());
    return slots;
  };
  EXPECT_THAT(counters(done[3]), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(counters(done[4]), ElementsAre(0, 0, 0, 1, 0, 0, 0, 0, 0));
  EXPECT_THAT(counters(done[5]), ElementsAre(0, 0, 0, 1, 0, 0, 1, 0, 0));
  EXPECT_TRUE(done[5].signals[2].changed);
  EXPECT_FALSE(done[5].signals[1].changed);
}

TEST(Replay, NamesPlacesAsTheTextDoes) {
  const SymbolicProgram program = parse_program(R"(program places
input x : i32[3, 4]
window w : i32[3, 4]
local t : u8[3]
view tail : i32[3] of w at 12
init x[i, j] = i * 10 + j

copy w <- x
copy w[1] <- x[2]
copy w[0..2] <- x[1..3]
copy w[2, 1..3] <- x[0, 0..2]
copy w[2, 3] <- x[2, 3]
copy tail <- x[0, 0..3]
fill t <- 165
)");
  const std::vector<ReplayedStep> steps = replay(program, steps_of_rank_0(program, 2), {.ranks = 2});
  std::vector<std::string> places;
  for (const ReplayedStep& step : steps) places.push_back(step.written.at(0).place);
  EXPECT_THAT(places, ElementsAre("w", "w[1]", "w[0..2]", "w[2, 1..3]", "w[2, 3]", "w[0, 3] to w[1, 1]", "t"));
  EXPECT_THAT(steps[3].written[0].after, ElementsAre("0", "1"));
  EXPECT_THAT(steps[5].written[0].before, ElementsAre("13", "20", "21"));
  EXPECT_THAT(steps[6].written[0].after, ElementsAre("165", "165", "165"));  // though it looks like what is left over
}

TEST(Replay, ARefusedCallEndsThere) {
  const SymbolicProgram program = parse_program(R"(program refused
input n : i64[1]
window w : i64[1]
init n[i] = 7

require n[0] < 5, "{n[0]} are too many"
fill w <- 1
)");
  std::vector<TraceStep> steps = steps_of_rank_0(program, 2);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_THAT(message_of(program, steps), HasSubstr("step 2 of the trace, `fill w <- 1` of rank 0 in call 1"));
  steps.pop_back();
  EXPECT_THAT(replay(program, steps)[0].refusal, HasSubstr("7 are too many"));
}

TEST(Replay, ABlockedWaitChangesNothing) {
  const SymbolicProgram program = parse_program("program stuck\nsignal s[1]\n\nwait s[0] >= 1\n");
  std::vector<TraceStep> steps = steps_of_rank_0(program, 2);
  EXPECT_THAT(message_of(program, steps), HasSubstr("the counter holds 0 there"));
  steps[0].blocked = true;
  EXPECT_THAT(replay(program, steps)[0].signals[0].slots, ElementsAre(0));
}

TEST(Replay, RefusesTracesOfOtherPrograms) {
  std::vector<TraceStep> steps = steps_of_rank_0(one_round(), 2);
  steps.erase(steps.begin() + 1);
  EXPECT_EQ(message_of(one_round(), steps),
            "step 2 of the trace, `fence` of rank 0 in call 1, is none of program one_round: it goes on with `put "
            "data@1[0] <- x[1]`");
  EXPECT_THAT(message_of(one_round(), {{.rank = RankId(2), .text = "fence"}}), HasSubstr("it has 2 ranks"));
  EXPECT_THAT(message_of(one_round(), {{.text = "put data@0[0] <- x[0]", .arrival = true}}),
              HasSubstr("no such put is under way"));
}

}  // namespace
}  // namespace reshard
