#include <gmock/gmock.h>

#include <algorithm>

#include "reshard/simulate.h"
#include "simulate_programs.h"

namespace reshard {
namespace {

using simulate_test::devices;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> lines(const SimulateReport& report) {
  std::vector<std::string> texts;
  for (const Stuck& stuck : report.stuck) texts.push_back(stuck.text);
  return texts;
}

SymbolicProgram with_signal(const std::function<void(Kernel&, SignalRef)>& write) {
  return program("stuck", [&](Kernel& k) { write(k, k.signal("ready", {k.ranks()})); });
}

TEST(SimulateStuck, WaitBeforeNotifyNamesWhoIsMissing) {
  const SymbolicProgram program = with_signal([](Kernel& k, SignalRef ready) {
    k.each_peer([&](auto s) { k.wait(ready[s], Ge, 1); });
    k.each_peer([&](auto p) { k.notify(ready[k.me()].on(p), Set, 1); });
  });
  const SimulateReport report = simulate(program);
  EXPECT_FALSE(report.finished);
  EXPECT_FALSE(report.correct);
  EXPECT_THAT(lines(report),
              ElementsAre("rank 0 waits for ready[1] >= 1, sees 0: rank 1 has not notified it; rank 1 itself waits for "
                          "ready[0] >= 1, sees 0",
                          "rank 1 waits for ready[0] >= 1, sees 0: rank 0 has not notified it; rank 0 itself waits for "
                          "ready[1] >= 1, sees 0"));
  EXPECT_THAT(report.message, HasSubstr("2 of 2 ranks wait for ever: rank 0 waits for ready[1]"));
  const Stuck& stuck = report.stuck[0];
  EXPECT_EQ(stuck.cell, "ready[1]");
  EXPECT_EQ(stuck.expected, 1U);
  EXPECT_EQ(stuck.seen, 0U);
  EXPECT_EQ(stuck.call, 1);
  EXPECT_EQ(stuck.compare, WaitCompare::greater_equal);
  EXPECT_THAT(stuck.missing, ElementsAre(RankId(1)));
}

TEST(SimulateStuck, ACellThatNobodyNotifies) {
  const SymbolicProgram program =
      with_signal([](Kernel& k, SignalRef ready) { k.when(equals(k.me(), 0), [&] { k.wait(ready[1], Eq, 3); }); });
  const SimulateReport report = simulate(program);
  EXPECT_THAT(lines(report), ElementsAre("rank 0 waits for ready[1] == 3, sees 0: nobody ever notifies it"));
  EXPECT_THAT(report.stuck[0].missing, IsEmpty());
}

TEST(SimulateStuck, ANotifierThatHasFinished) {
  const SymbolicProgram program = with_signal([](Kernel& k, SignalRef ready) {
    k.when(
        equals(k.me(), 0), [&] { k.wait(ready[1], Ge, 2 * k.call()); }, [&] { k.notify(ready[1].on(0), Add, 1); });
  });
  EXPECT_THAT(lines(simulate(program, {.calls = 3})),
              ElementsAre("rank 0 waits for ready[1] >= 4, sees 3: nobody will notify it any more: rank 1 did, and "
                          "finished all calls"));
}

// One rank skips what the others do.
TEST(SimulateStuck, ANotificationOfALaterCallIsMissingToo) {
  const SymbolicProgram program = with_signal([](Kernel& k, SignalRef ready) {
    k.when(equals(k.me(), 0) && equals(k.call(), 1), [&] { k.wait(ready[0], Ge, 1); });
    k.each_peer([&](auto p) { k.wait(ready[p], Ge, k.call()); });
    k.each_peer([&](auto p) { k.notify(ready[k.me()].on(p), Add, 1); });
    k.notify(ready[0].on(0), Add, 1);
  });
  const SimulateReport report = simulate(program, {.devices = devices(3), .calls = 2});
  ASSERT_EQ(report.stuck.size(), 3U);
  EXPECT_THAT(report.stuck[0].missing, ElementsAre(RankId(0), RankId(1), RankId(2)));
  EXPECT_THAT(report.stuck[0].text, HasSubstr("ranks 0, 1, 2 have not notified it; rank 1 itself waits"));
}

TEST(SimulateStuck, EqualThatWasPassed) {
  const SymbolicProgram program = with_signal([](Kernel& k, SignalRef ready) {
    k.when(equals(k.me(), 1), [&] { k.notify(ready[0].on(0), Set, 5); });
    k.when(equals(k.me(), 0), [&] { k.wait(ready[0], Eq, 2); });
  });
  EXPECT_THAT(lines(simulate(program)),
              ElementsAre("rank 0 waits for ready[0] == 2, sees 5: it is past 2 already; nobody will notify it any "
                          "more: rank 1 did, and finished all calls"));
}

// A sequence number of 16 bits: the call after 65,535 waits for what the counter cannot hold.
TEST(SimulateStuck, ANarrowCounterWraps) {
  const SymbolicProgram program = reshard::program("narrow", [](Kernel& k) {
    const auto ready = k.signal("ready", {k.ranks()}, {.bits = 16});
    k.each_peer([&](auto p) { k.notify(ready[k.me()].on(p), Add, 1); });
    k.each_peer([&](auto s) { k.wait(ready[s], Ge, k.call()); });
  });
  EXPECT_TRUE(simulate(program, {.calls = 65535}).correct);
  const SimulateReport report = simulate(program, {.calls = 65537});
  ASSERT_EQ(report.stuck.size(), 2U);
  // Whoever came first to the call may have wiped out what the other still waited for.
  EXPECT_EQ(std::max(report.stuck[0].call, report.stuck[1].call), 65536);
  EXPECT_EQ(std::min(report.stuck[0].seen, report.stuck[1].seen), 0U);
}

}  // namespace
}  // namespace reshard
