// Barriers, and the collective creation and destruction of windows and signals.
#include <fstream>

#include "every_fabric.h"

namespace reshard::multi {
namespace {

class Collective : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Collective, {1, 2, 3, 4, 6, 7, 8});

// What takes two.
class Company : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Company, {2, 3, 4, 6, 7, 8});

// Memory of this process that is present, private and shared.
Index resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  throw std::runtime_error("no VmRSS in /proc/self/status");
}

// Each rank counts in its own window; after a barrier all counters are equal, and stay so until the next.
TEST_P(Collective, BarrierHoldsEverybodyAThousandTimes) {
  run([](Endpoint& e) {
    const WindowId window = e.create_window("counter", 8, in_time());
    for (std::uint64_t round = 1; round <= 1000; ++round) {
      elements(e, window)[0] = round;
      e.barrier(in_time());
      std::uint64_t got = 0;
      const RankId peer((e.rank().value() + round) % e.ranks());
      e.get(peer, window, {.row_bytes = 8}, std::as_writable_bytes(std::span(&got, 1)));
      expect_equal(e, "peer's round", got, round);
      e.barrier(in_time());
    }
  });
}

TEST_P(Company, BarrierNamesWhoIsMissing) {
  run([](Endpoint& e) {
    const SignalId seen = e.create_signal("seen", 1, in_time());
    const RankId absent(e.ranks() - 1);
    if (e.rank() == absent) return e.wait(seen, 0, e.ranks() - 1, Endpoint::Until::equal, in_time());
    expect_error(e, Code::timeout, {"barrier", "not there: rank " + std::to_string(absent.value())},
                 [&] { e.barrier(Clock::now() + 500ms); });
    e.notify(absent, seen, 0, 1, Endpoint::Update::add);
  });
}

// 60 windows of 1 MiB one after another, each zeroed, in no more memory than a few of them.
TEST_P(Collective, DestroyedWindowsGiveTheirMemoryBack) {
  const Index world_size = traits().is_threads ? ranks() : 1;  // whose memory one process sees
  run([world_size](Endpoint& e) {
    const Index bytes = Index{1} << 20;
    Index before = 0;
    for (int i = 0; i < 60; ++i) {
      const WindowId window = e.create_window("temporary", bytes, in_time());
      const SignalId signal = e.create_signal("temporary", 100, in_time());
      for (std::uint64_t got : elements(e, window)) expect_equal(e, "fresh element", got, 0);
      elements(e, window)[i] = stamp(e.rank(), i);
      e.destroy_signal(signal, in_time());
      e.destroy_window(window, in_time());
      expect_error(e, Code::invalid_argument, {"window id"}, [&] { e.memory(window); });
      expect_error(e, Code::invalid_argument, {"signal id"}, [&] { e.peek(signal, 0); });
      if (i == 10) before = resident_kib();
    }
    const Index grown = resident_kib() - before;
    if (grown > 4 * 1024 * world_size) report(e, "resident memory grew by " + std::to_string(grown) + " KiB");
    e.barrier(in_time());
  });
}

// All ranks throw the same, and go on together.
TEST_P(Company, RanksThatDisagreeAllGetTheSameError) {
  run([](Endpoint& e) {
    const bool is_other = e.rank().value() == e.ranks() - 1;
    const std::string other = "rank " + std::to_string(e.ranks() - 1);
    expect_error(e, Code::invalid_argument, {"rank 0", "create_window(\"a\")", other + " ", "create_window(\"b\")"},
                 [&] { e.create_window(is_other ? "b" : "a", 8, in_time()); });
    expect_error(
        e, Code::invalid_argument, {"rank 0", "create_window(\"a\")", other + " ", "create_signal(\"a\")"},
        [&] { is_other ? void(e.create_signal("a", 8, in_time())) : void(e.create_window("a", 8, in_time())); });
    // Alike for longer than an error shows.
    const std::string long_name(300, 'x');
    expect_error(e, Code::invalid_argument, {"xxx...", other},
                 [&] { e.create_window(long_name + (is_other ? "b" : "a"), 8, in_time()); });
    const WindowId first = e.create_window(long_name, 8, in_time()), second = e.create_window("", 8, in_time());
    expect_error(e, Code::invalid_argument, {"destroy_window", "[id 0]", other, "[id 1]"},
                 [&] { e.destroy_window(is_other ? second : first, in_time()); });
    put_one(e, next_of(e), second, 0, stamp(e.rank(), 0));
    e.barrier(in_time());
    expect_equal(e, "data", elements(e, second)[0], stamp(previous_of(e), 0));
  });
}

// One rank asks for what nobody can have: all hear of it, nobody waits for it.
TEST_P(Collective, ARankWithoutMemoryFailsTheCallEverywhere) {
  run([](Endpoint& e) {
    const Index last = e.ranks() - 1;
    const bool is_last = e.rank().value() == last;
    expect_error(e, Code::io, {"create_window(\"huge\")", "rank " + std::to_string(last)},
                 [&] { e.create_window("huge", is_last ? Index{1} << 60 : 8, in_time()); });
    expect_error(e, Code::io, {"create_signal(\"huge\")", "rank " + std::to_string(last)},
                 [&] { e.create_signal("huge", is_last ? Index{1} << 62 : 8, in_time()); });
    expect_error(e, Code::io, {"create_window(\"less\")", "negative"},
                 [&] { e.create_window("less", is_last ? -1 : 8, in_time()); });
    const WindowId window = e.create_window("small", 8, in_time());
    put_one(e, next_of(e), window, 0, stamp(e.rank(), 0));
    e.barrier(in_time());
    expect_equal(e, "data", elements(e, window)[0], stamp(previous_of(e), 0));
  });
}

TEST_P(Collective, EightWorldsOneAfterAnother) {
  for (int i = 0; i < 8; ++i) {
    run([i](Endpoint& e) {
      const WindowId window = e.create_window("data", 8, in_time());
      expect_equal(e, "fresh element", elements(e, window)[0], 0);
      e.barrier(in_time());
      put_one(e, next_of(e), window, 0, stamp(e.rank(), i));
      e.barrier(in_time());
      expect_equal(e, "data", elements(e, window)[0], stamp(previous_of(e), i));
    });
  }
}

TEST_P(Collective, AWorldHasARank) {
  EXPECT_THROW(fabric().run(0, [](Endpoint&) {}, {}), Error);
  run([](Endpoint& e) { expect_equal(e, "rank in range", e.rank().value() < e.ranks(), true); });
}

}  // namespace
}  // namespace reshard::multi
