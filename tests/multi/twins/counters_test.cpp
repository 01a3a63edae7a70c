// Signals that are used very often, or that start near the end of what they count.
#include "program/every_world.h"
#include "twins/simulated.h"
#include "twins/twin_files.h"

namespace reshard::multi {
namespace {

class TwinCounters : public EveryWorld {};
RESHARD_ON_EVERY_FABRIC(TwinCounters, {2, 3});

// A sanitizer sees no more in later calls, and takes minutes for them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr Index kCalls = 1'025;
#else
constexpr Index kCalls = 65'537;
#endif
constexpr std::string_view kOften[] = {"barrier.epoch.rp", "barrier.credits-2.rp", "all_to_all.epoch.rp",
                                       "all_to_all.credits-2.rp"};

// A 16-bit sequence number would be used up.
TEST_P(TwinCounters, SixtyFiveThousandCallsOnOneSignal) {
  if (!traits().is_threads || ranks() > 2) return;
  run_worlds([](World& world) {
    for (const std::string_view name : kOften) {
      ProgramRun run(world, twin_program(name), {{"n", 1}});
      for (Index call = 1; call <= kCalls; ++call) {
        if (call % 4096 == 1) run.fill_inputs();
        run.call();
        if (call % 4096 == 1) run.check_outputs();
      }
      expect_equal(world.endpoint(), "calls", run.calls(), kCalls);
    }
  });
}

TEST(TwinCountersSimulated, SixtyFiveThousandCallsOnOneSignal) {
  for (const std::string_view name : kOften) {
    SimulateOptions options = schedule_of(2, 7, {{"n", 1}});
    options.calls = kCalls;
    const SimulateReport report = simulate(twin_program(name), options);
    EXPECT_TRUE(report.correct) << name << ": " << report.message;
  }
}

// Credits need no wide counters; counters that only grow do, and a narrow one is stuck where it wraps.
TEST(TwinCountersSimulated, NarrowCountersSufficeForCreditsAlone) {
  SimulateOptions options = schedule_of(2, 7, {{"n", 1}});
  options.calls = 300;
  const auto narrow = [&](const std::string& protocol) {
    const std::string declared = "signal ready[P] : ";
    return simulate(twin_program_with("all_to_all." + protocol + ".rp", declared, declared + "8 bits, "), options);
  };
  const SimulateReport credits = narrow("credits-2");
  EXPECT_TRUE(credits.correct) << credits.message;
  const SimulateReport epoch = narrow("epoch");
  ASSERT_EQ(epoch.stuck.size(), 2u) << epoch.message;
  for (const Stuck& stuck : epoch.stuck) {
    EXPECT_EQ(stuck.call, 128);
    EXPECT_GE(stuck.expected, 255u);
  }
}

// The end of signed and unsigned 32-bit numbers, and of signed 64-bit numbers.
constexpr std::string_view kStarts[] = {"2147483648 - 3", "4294967296 - 3", "9223372036854775807 - 20 - 8 * P"};

// Builtins whose signal is given such a start; of some, what is behind the declaration differs.
std::vector<TwinFile> started_at(std::string_view start) {
  std::vector<TwinFile> files;
  for (const TwinPair& pair : twin_pairs())
    for (const std::string_view protocol : {"epoch", "credits-1", "credits-2", "parity"}) {
      const std::string end = "] : " + std::string(protocol) + "\n";
      if (twin_text(pair.builtin.name).find(end) == std::string::npos) continue;
      const std::string started = "] : " + std::string(protocol) + ", starts " + std::string(start) + "\n";
      files.push_back({pair.builtin.name, twin_program_with(pair.builtin.name, end, started)});
    }
  return files;
}

TEST_P(TwinCounters, SignalsThatStartNearTheEnd) {
  if (ranks() < 3) return;
  run_worlds([](World& world) {
    for (const std::string_view start : kStarts)
      for (const TwinFile& file : started_at(start)) {
        ProgramRun run(world, file.program);
        expect_calls(run);
      }
  });
}

TEST(TwinCountersSimulated, SignalsThatStartNearTheEnd) {
  for (const std::string_view start : kStarts) {
    const std::vector<TwinFile> files = started_at(start);
    EXPECT_GE(files.size(), 24u);
    for (const TwinFile& file : files)
      for (const Index ranks : {3, 4}) {
        const SimulateReport report = simulate(file.program, schedule_of(ranks, 3));
        EXPECT_TRUE(report.correct) << file.name << " from " << start << ": " << report.message;
      }
  }
}

}  // namespace
}  // namespace reshard::multi
