#include <gmock/gmock.h>

#include "reshard/simulate.h"
#include "simulate_programs.h"

namespace reshard {
namespace {

using simulate_test::devices;
using testing::DoubleNear;
using testing::ElementsAre;

// docs/design/simulate.md
constexpr double kIssue = 0.1e-6, kAlpha = 1e-6, kRate = 10e9;
constexpr double kNear = 1e-15;

// Rank 0 puts `rows` rows of 10,000 bytes to rank 1, and tells it so.
SymbolicProgram push(Index rows) {
  return program("push", [&](Kernel& k) {
    const auto x = k.input("x", Dtype::u8, {rows, 10000}), data = k.window("data", Dtype::u8, {rows, 10000});
    const auto done = k.signal("done", {1});
    k.when(
        equals(k.me(), 0),
        [&] {
          k.each(0, rows, [&](auto r) { k.put(data.row(r).on(1), x.row(r)); });
          k.fence();
          k.notify(done[0].on(1), Add, 1);
        },
        [&] { k.wait(done[0], Ge, k.call()); });
  });
}

TEST(SimulateClock, PutsOfOneRankFollowOneAnother) {
  const double row = kAlpha + 10000 / kRate;
  const SimulateReport report = simulate(push(3));
  const double fenced = kIssue + 3 * row + kIssue;
  EXPECT_THAT(report.rank_seconds,
              ElementsAre(DoubleNear(fenced + kIssue, kNear), DoubleNear(fenced + kIssue + kAlpha + kIssue, kNear)));
  EXPECT_DOUBLE_EQ(report.seconds, report.rank_seconds[1]);
}

TEST(SimulateClock, GetsAndLocalWorkTakeTheRanksTime) {
  const SymbolicProgram program = reshard::program("pull", [](Kernel& k) {
    const auto data = k.window("data", Dtype::u8, {10000}), y = k.output("y", Dtype::u8, {10000});
    k.get(y, data.on((k.me() + 1) % k.ranks()));
    k.copy(y, data);
  });
  const double copied = 10000 / kRate;
  EXPECT_NEAR(simulate(program).seconds, 2 * kIssue + kAlpha + 2 * copied, kNear);
  EXPECT_NEAR(simulate(program, {.devices = {0}}).seconds, 2 * kIssue + 2 * copied, kNear) << "its own window is near";
}

TEST(SimulateClock, ChargesTheLinksOfTheWay) {
  const Topology topology(
      {.ranks = 2,
       .levels = {{.name = "rank", .link = {2e-6, 1e9}}, {.name = "host", .link = {5e-6, 1e8}, .holds = 1}}});
  const SimulateReport report = simulate(push(1), {.topology = topology});
  const double alpha = 2 * (2e-6 + 5e-6);  // out of both, into both
  EXPECT_NEAR(report.seconds, 4 * kIssue + alpha + 10000 / 1e8 + alpha, kNear);
}

// Which rank the schedule prefers changes no time of programs with one notifier for each cell.
TEST(SimulateClock, DoesNotDependOnTheSchedule) {
  const SymbolicProgram program = simulate_test::all_to_all(9);
  SimulateOptions options{.devices = devices(4), .calls = 3};
  const std::vector<double> seconds = simulate(program, options).rank_seconds;
  for (options.seed = 1; options.seed < 100; ++options.seed)
    EXPECT_EQ(simulate(program, options).rank_seconds, seconds) << "seed " << options.seed;
  options.slow = RankId(2);
  EXPECT_EQ(simulate(program, options).rank_seconds, seconds);
}

}  // namespace
}  // namespace reshard
