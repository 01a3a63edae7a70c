// Counts that ranks must agree on, of rows for each other: none at all (C6, C8), more than there is room for (G9),
// nearly all for one (G13), other ones than expected (H6).
#include <gtest/gtest.h>

#include "cases/program_cases.h"
#include "reshard/error.h"

namespace reshard {
namespace {

// Rows go out by index and come back to where the sender keeps those for each destination. Rank 2 sends nothing, nobody
// sends to rank 3.
constexpr std::string_view kDispatchAndCombine = R"(
program dispatch_and_combine
size c = 8
size h = 16
size rows = 5
input x : f32[rows, h]
input counts : i32[P]
input index : i32[P, c]
input back : i32[P, c]
output there : f32[P * c, h]
output home : f32[P * c, h]
output received : i32[P]
output returned : i32[P]
window target : f32[P * c, h]
window combined : f32[P * c, h]
window send_counts : i32[P]
window back_counts : i32[P]
signal met[P, 2] : PROTOCOL
init counts[d] = pick(me == 2 || d == 3, (me * 3 + d + 1) % (c + 1), 0)
init index[d, k] = pick(me == 2 || d == 3 || k >= (me * 3 + d + 1) % (c + 1), (me + d + 2 * k) % rows, -1)
init back[d, k] = d * c + k
init target[r, j] = 77
expect received[s] = counts@s[me]
expect received[s] = 0 if me == 3
expect returned[d] = counts@me[d]
expect there[r, j] = 77 if r % c >= counts@(r / c)[me] || me == 3
expect there[r, j] = x@(r / c)[index@(r / c)[me, r % c], j] if r % c < counts@(r / c)[me]
expect home[r, j] = x@me[index@me[r / c, r % c], j] if r % c < counts@me[r / c]

copy send_counts <- counts
indexed_all_to_all_v(input = x, target = target, send_counts = send_counts, recv_counts = received, index = index, signal = met, workers = 2)
copy there <- target
copy back_counts <- received
indexed_all_to_all_v(input = there, target = combined, send_counts = back_counts, recv_counts = returned, index = back, signal = met, workers = 2)
copy home <- combined
)";

TEST(CaseC, C6_RanksWithoutRowsTakePartInDispatchAndCombine) {
  for (const std::string_view protocol : {"epoch", "credits-2"})
    expect_right(with(std::string(kDispatchAndCombine), "PROTOCOL", protocol), 4);
}

// ROW is what rank 1 gives as the rows for rank 2, of which it sends none.
constexpr std::string_view kSlots = R"(
program slots
size c = 2
input x : f64[3, 2]
input counts : i32[P]
input index : i32[P, c]
output y : f64[P * c, 2]
output received : i32[P]
window target : f64[P * c, 2]
window send_counts : i32[P]
signal met[P]
init counts[d] = pick(me == 1 && d == 2, c, 0)
init index[d, k] = pick(me == 1 && d == 2, (me + d + k) % 3, ROW)
expect received[s] = pick(s == 1 && me == 2, c, 0)
expect y[r, j] = x@(r / c)[index@(r / c)[me, r % c], j] if r % c < counts@(r / c)[me]

copy send_counts <- counts
indexed_all_to_all_v(input = x, target = target, send_counts = send_counts, recv_counts = received, index = index, signal = met)
copy y <- target
)";

TEST(CaseC, C8_SlotsOfNoRowsAreNotLookedAt) {
  for (const std::string_view row : {"-2147483648", "2147483647", "3"})
    expect_right(with(std::string(kSlots), "ROW", row), 3);
}

constexpr std::string_view kStaged = R"(
program staged
size m = 7
input x : i32[P * m, 1]
input counts : i64[P]
output y : i32[P * m, 1]
output received : i64[P]
window target : i32[P * m, 1]
window send_counts : i64[P]
signal met[P] : credits-2
init x[r, j] = call * 10000000 + me * 100000 + r
init counts[d] = COUNT
expect y[r, j] = x@(r / m)[me * m + r % m, j] if r % m < counts@(r / m)[me]
expect received[s] = counts@s[me]

copy send_counts <- counts
all_to_all_v(input = x, target = target, send_counts = send_counts, recv_counts = received, signal = met)
for s in 0..P {
  copy y[s * m..s * m + received[s]] <- target[s * m..s * m + received[s]]
}
)";

std::string staged(std::string_view count) { return with(std::string(kStaged), "COUNT", count); }

TEST(CaseG, G9_RowsOfOnePeerDoNotReachTheSlotOfTheNext) {
  const std::string text = staged("pick(d == 0, 2, pick(min(me, 2), 5, 1, 7))");
  expect_right(text, 3);
  expect_refused(text, 3, {{"m", 4}}, "program staged: count 5 from rank 0 to rank 0 exceeds capacity M = 4");
  expect_refused(text, 3, {{"m", 6}}, "program staged: count 7 from rank 2 to rank 0 exceeds capacity M = 6");
}

// 2304 rows on each of 16 ranks, of which all but 10 go to rank 5.
TEST(CaseG, G13_NearlyAllRowsGoToOneRank) {
  const SymbolicProgram program = parse_program(staged("(d == 5) * 2294 + (d == (me + 6) % P) * 10"));
  const auto body = [&](World& world) {
    ProgramRun run(world, program, {{"m", 2304}});
    for (int call = 0; call < 2; ++call) {
      run.fill_inputs();
      run.call();
      run.check_outputs();
      Index sum = 0;
      for (const Index count : run.span<Index>("received")) sum += count;
      const Index me = world.rank().value();
      if (sum != (me == 5 ? 16 * 2294 + 10 : 10))
        throw std::logic_error("rank " + std::to_string(me) + " received " + std::to_string(sum) + " rows");
    }
  };
  process_ranks(16, body, {.timeout = std::chrono::seconds(120)});
}

TEST(CaseH, H6_TheReceiverLearnsTheTrueCounts) { expect_right(staged("me == 0 && d == 1"), 2, {{"m", 3}}); }

// Both sides say what they think; all look at both.
constexpr std::string_view kCrossChecked = R"(
program cross_checked
input sends : i64[P]
input wants : i64[P]
window shown_sends : i64[P]
window shown_wants : i64[P]
local all_sends : i64[P, P]
local all_wants : i64[P, P]
signal met[P]
init sends[d] = me == 0 && d == 1
init wants[s] = WANTED

copy shown_sends <- sends
copy shown_wants <- wants
for p in peers { notify met@p[me] += 1 }
for s in peers { wait met[s] >= 2 * call - 1 }
for r in 0..P {
  get all_sends[r] <- shown_sends@r
  get all_wants[r] <- shown_wants@r
}
for p in peers { notify met@p[me] += 1 }
for s in peers { wait met[s] >= 2 * call }
for s in 0..P {
  for d in 0..P {
    require all_sends[s, d] == all_wants[d, s], "pair ({s},{d}): {all_sends[s, d]} sent, {all_wants[d, s]} expected"
  }
}
)";

TEST(CaseH, H6_CountsThatDisagreeAreAnErrorOnBothRanks) {
  const auto wanted = [](std::string_view wants) { return with(std::string(kCrossChecked), "WANTED", wants); };
  expect_refused(wanted("(me == 1 && s == 0) * 3"), 2, {}, "program cross_checked: pair (0,1): 1 sent, 3 expected");
  EXPECT_EQ(fault_of(wanted("(me == 1 && s == 0) * 3"), 2, 2), std::nullopt);
  expect_right(wanted("me == 1 && s == 0"), 2);
  // Where only the receiver looks, only it is refused.
  const std::string alone =
      with(wanted("(me == 1 && s == 0) * 3"), "  for d in 0..P {\n    require", "  for d in me..me + 1 {\n    require");
  EXPECT_EQ(fault_of(alone, 2, 2), CheckFault::refused);
}

// Ranks that call the same exchange for other sizes.
TEST(CaseH, H6_SizesThatDisagreeAreAnErrorOnBothRanks) {
  on_every_fabric(2, [](World& world) {
    try {
      ProgramRun(world, parse_program(staged("1")), {{"m", world.rank() == RankId(0) ? 1 : 3}});
    } catch (const Error& error) {
      const std::string_view message = error.what();
      for (const std::string_view part : {"rank 0", "rank 1", "m = 1", "m = 3"})
        if (message.find(part) == message.npos) throw;
      return;
    }
    throw std::logic_error("sizes 1 and 3 were taken");
  });
}

}  // namespace
}  // namespace reshard
