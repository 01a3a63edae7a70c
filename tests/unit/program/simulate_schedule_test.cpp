#include <gmock/gmock.h>

#include <chrono>

#include "reshard/error.h"
#include "reshard/program_text.h"
#include "reshard/simulate.h"
#include "simulate_programs.h"

namespace reshard {
namespace {

using simulate_test::all_to_all;
using simulate_test::devices;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Index kCalls = 3;  // what goes wrong between calls shows from the second on

SimulateReport run(const SymbolicProgram& program, Index ranks, std::uint64_t seed) {
  return simulate(program, {.devices = devices(ranks), .calls = kCalls, .seed = seed});
}

class TwoRounds : public testing::TestWithParam<Index> {};

TEST_P(TwoRounds, AreRightUnderEverySchedule) {
  const Index ranks = GetParam();
  for (const Index n : {1, 7}) {
    const SymbolicProgram program = all_to_all(n);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const SimulateReport report = run(program, ranks, seed);
      ASSERT_TRUE(report.correct) << "seed " << seed << ", n " << n << ": " << report.message;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Simulate, TwoRounds, testing::Values(1, 2, 3, 4, 7, 8));

// How many of seeds 0..999 show that something is wrong.
Index failures(const SymbolicProgram& program, Index ranks) {
  Index count = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) count += run(program, ranks, seed).correct ? 0 : 1;
  return count;
}

TEST(SimulateSchedule, WithoutReadyRoundDataIsOverwrittenBeforeItIsRead) {
  const SymbolicProgram program = all_to_all(3, {.ready_round = false});
  EXPECT_GT(failures(program, 2), 0);
  EXPECT_GT(failures(program, 3), 0);
}

TEST(SimulateSchedule, WithoutFenceDataIsReadBeforeItArrives) {
  const SymbolicProgram program = all_to_all(3, {.fence = false});
  EXPECT_GT(failures(program, 2), 0);
  SimulateOptions ordered{.delay_puts = false};
  EXPECT_TRUE(simulate(program, ordered).correct) << "an ordered network hides it";
}

// Local memory is forgotten between calls. The next call begins with a fence, so what was put by then is there.
TEST(SimulateSchedule, PutsHaveReadTheirSourceWhenTheCallEnds) {
  const SymbolicProgram program = parse_program(
      "program late\noutput y : i64[2]\nwindow data : i64[2]\nlocal b : i64[2]\nsignal met[P]\n"
      "init data[j] = 7\nexpect y[j] = 7\n\nfence\n"
      "for p in peers { notify met@p[me] += 1 }\nfor p in peers { wait met[p] >= 2 * call - 1 }\ncopy y <- data\n"
      "for p in peers { notify met@p[me] += 1 }\nfor p in peers { wait met[p] >= 2 * call }\n"
      "fill b <- 7\nput data@((me + 1) % P) <- b\n");
  EXPECT_EQ(failures(program, 2), 0);
}

TEST(SimulateSchedule, WrongElementsNameTheirOrigin) {
  const SymbolicProgram program = all_to_all(3, {.fence = false});
  for (std::uint64_t seed = 0;; ++seed) {
    const SimulateReport report = run(program, 2, seed);
    if (report.correct) continue;
    EXPECT_TRUE(report.finished);
    EXPECT_GT(report.wrong_elements, 0);
    EXPECT_THAT(report.message, testing::ContainsRegex("after call [1-3] rank [01] holds [0-9]+ in y\\[[01], [012]\\], "
                                                       "expected [0-9]+, which x\\[[01], [012]\\] of rank [01] was"));
    return;
  }
}

TEST(SimulateSchedule, OneSeedIsOneRun) {
  const SymbolicProgram program = all_to_all(5);
  SimulateOptions options{.devices = devices(4), .calls = kCalls, .seed = 11, .timeline = true};
  const SimulateReport first = simulate(program, options), second = simulate(program, options);
  EXPECT_EQ(chrome_trace(first, options.devices), chrome_trace(second, options.devices));
  EXPECT_EQ(first.steps, second.steps);
  options.seed = 12;
  EXPECT_NE(chrome_trace(first, options.devices), chrome_trace(simulate(program, options), options.devices));
}

TEST(SimulateSchedule, ASlowRankHoldsNobodyUpThatNeedNotWait) {
  // Rank 0 counts calls down a chain; rank 1 only sends.
  const SymbolicProgram program = reshard::program("send", [](Kernel& k) {
    const auto y = k.output("y", Dtype::i32, {1});
    const auto count = k.signal("count", {1});
    k.expect(y, [&](auto) { return k.call(); });
    k.when(
        equals(k.me(), 1), [&] { k.notify(count[0].on(0), Add, 1); }, [&] { k.wait(count[0], Ge, k.call()); });
    k.fill(y, k.call());
  });
  for (const Index slow : {0, 1}) {
    std::vector<Index> order;
    SimulateOptions options{.calls = 5, .slow = RankId(slow)};
    options.observe = [&](Index, RankId rank, int, std::span<const std::byte>) { order.push_back(rank.value()); };
    EXPECT_TRUE(simulate(program, options).correct);
    const std::vector<Index> sender_first{1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
    EXPECT_EQ(order == sender_first, slow == 0);
  }
}

TEST(SimulateSchedule, ManyCallsOnOneSignalAreQuick) {
  const Index calls = 65537;
  const auto start = std::chrono::steady_clock::now();
  const SimulateReport grown = simulate(simulate_test::barrier(), {.calls = calls});
  EXPECT_TRUE(grown.correct) << grown.message;
  EXPECT_EQ(grown.cost.ranks[0].waits, calls);
  const SimulateReport credits = simulate(all_to_all(2), {.calls = calls});
  EXPECT_TRUE(credits.correct) << credits.message;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", std::to_string(took.count()));
}

TEST(SimulateSchedule, DevicesAreNamesOfRanks) {
  const SymbolicProgram program = all_to_all(3);
  EXPECT_TRUE(simulate(program, {.devices = {3, 1, 2}}).correct);
  EXPECT_TRUE(simulate(program, {.devices = {5}}).correct);
  const auto with = [&](std::vector<Index> list) { return [&, list] { simulate(program, {.devices = list}); }; };
  EXPECT_THAT(with({3, 1, 3}), ThrowsMessage<Error>(HasSubstr("device 3 is listed twice")));
  EXPECT_THAT(with({0, -1}), ThrowsMessage<Error>(HasSubstr("device -1 is negative")));
  EXPECT_THAT(with({}), ThrowsMessage<Error>(HasSubstr("no device is listed")));
}

TEST(SimulateSchedule, OptionsThatDoNotFitAreRefused) {
  const SymbolicProgram program = all_to_all(3);
  EXPECT_THAT([&] { simulate(program, {.calls = 0}); }, ThrowsMessage<Error>(HasSubstr("0 calls")));
  EXPECT_THAT([&] { simulate(program, {.slow = RankId(2)}); },
              ThrowsMessage<Error>(HasSubstr("the slow rank 2 is none of the 2 ranks")));
  const Topology small({.ranks = 2, .levels = {{.name = "rank", .link = {1e-6, 1e9}}}});
  EXPECT_THAT([&] { simulate(program, {.devices = devices(3), .topology = small}); },
              ThrowsMessage<Error>(HasSubstr("the simulation")));
}

}  // namespace
}  // namespace reshard
