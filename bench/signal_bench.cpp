// What waiting costs: one way of a notification, and a barrier, on every host fabric and by threads and processes
// alike. Beside each, in the same run and turn by turn, the floor: ranks that pass one bare flag, and a barrier of two
// bare counters, which spin where every rank has a core and yield where not. The counters `x_bare` are ratios of
// medians.
#include <benchmark/benchmark.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>

#include "reshard/shm_fabric.h"
#include "reshard/thread_fabric.h"

namespace reshard {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t kRounds = 20'000;
constexpr int kTurns = 9;

// What bare ranks share, on lines of their own.
struct Bare {
  alignas(64) std::atomic<std::uint64_t> token{0};
  alignas(64) std::atomic<std::uint64_t> arrived{0};
  alignas(64) std::atomic<std::uint64_t> released{0};
};

// Memory that threads and forked processes share alike.
class BareMemory {
 public:
  BareMemory()
      : memory_(::mmap(nullptr, sizeof(Bare), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        bare_(new (memory_) Bare) {}
  ~BareMemory() { ::munmap(memory_, sizeof(Bare)); }
  BareMemory(const BareMemory&) = delete;
  BareMemory& operator=(const BareMemory&) = delete;
  Bare& operator*() { return *bare_; }

 private:
  void* memory_;
  Bare* bare_;
};

// Runs `rounds_of` on all ranks; rank 0's time per round.
template <class RunRanks, class Rounds>
double seconds_per_round(const RunRanks& run_ranks, Index ranks, const Rounds& rounds_of) {
  // Carried out of a rank that may be a process by the only thing that leaves one: an error's text.
  const auto body = [&](Endpoint& e) {
    const SignalId signal = e.create_signal("signal", 1, Clock::now() + 60s);
    e.barrier(Clock::now() + 60s);
    const auto start = Clock::now();
    rounds_of(e, signal);
    const std::chrono::duration<double> spent = Clock::now() - start;
    e.barrier(Clock::now() + 60s);
    if (e.rank().value() == 0) throw Error(Code::internal, std::to_string(spent.count() * 1e9 / kRounds));
  };
  const auto outcomes = run_ranks(ranks, body, RunOptions{});
  return std::stod(outcomes.front().message) * 1e-9;
}

const Index kCores = ::sysconf(_SC_NPROCESSORS_ONLN);

template <class Ready>
void wait_bare(Index ranks, const Ready& ready) {
  while (!ready()) {
    if (ranks > kCores) sched_yield();
  }
}

// A token around the ring: one hop per rank and round.
void pass_token(Endpoint& e, SignalId token) {
  const RankId next((e.rank().value() + 1) % e.ranks());
  const auto deadline = Clock::now() + 60s;
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    if (e.rank().value() != 0) e.wait(token, 0, i, Endpoint::Until::greater_equal, deadline);
    e.notify(next, token, 0, 1, Endpoint::Update::add);
    if (e.rank().value() == 0) e.wait(token, 0, i, Endpoint::Until::greater_equal, deadline);
  }
}

void pass_bare_token(Endpoint& e, Bare& bare) {
  const auto ranks = static_cast<std::uint64_t>(e.ranks());
  for (std::uint64_t i = static_cast<std::uint64_t>(e.rank().value()); i < ranks * kRounds; i += ranks) {
    wait_bare(e.ranks(),
              [&] { return bare.token.load(std::memory_order_acquire) == i; });  // pairs with the store below
    bare.token.store(i + 1, std::memory_order_release);                          // pairs with the load above
  }
}

void meet(Endpoint& e, SignalId) {
  const auto deadline = Clock::now() + 60s;
  for (std::uint64_t i = 0; i < kRounds; ++i) e.barrier(deadline);
}

void meet_barely(Endpoint& e, Bare& bare) {
  const auto ranks = static_cast<std::uint64_t>(e.ranks());
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    if (bare.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks * i) {  // pairs with itself
      bare.released.store(i, std::memory_order_release);                          // pairs with the load below
    } else {
      wait_bare(e.ranks(), [&] { return bare.released.load(std::memory_order_acquire) >= i; });  // see the store above
    }
  }
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

// `parts`: how many of what is measured are in a round.
template <class RunRanks, class Ours, class Barely>
void beside_bare(benchmark::State& state, const RunRanks& run_ranks, double parts, const Ours& ours,
                 const Barely& barely) {
  std::vector<double> times, bare_times;
  for (auto _ : state) {
    BareMemory memory;
    times.push_back(seconds_per_round(run_ranks, state.range(0), ours) / parts);
    bare_times.push_back(
        seconds_per_round(run_ranks, state.range(0), [&](Endpoint& e, SignalId) { barely(e, *memory); }) / parts);
    state.SetIterationTime(times.back());
  }
  state.counters["median_ns"] = median(times) * 1e9;
  state.counters["bare_ns"] = median(bare_times) * 1e9;
  state.counters["x_bare"] = median(times) / median(bare_times);
}

template <class RunRanks>
void hop(benchmark::State& state, const RunRanks& run_ranks) {
  beside_bare(state, run_ranks, static_cast<double>(state.range(0)), pass_token, pass_bare_token);
}

template <class RunRanks>
void barrier(benchmark::State& state, const RunRanks& run_ranks) {
  beside_bare(state, run_ranks, 1, meet, meet_barely);
}

BENCHMARK_CAPTURE(hop, thread, try_threads)->Arg(2)->Arg(4)->Arg(8)->UseManualTime()->Iterations(kTurns);
BENCHMARK_CAPTURE(hop, shm, try_processes)->Arg(2)->Arg(4)->Arg(8)->UseManualTime()->Iterations(kTurns);
BENCHMARK_CAPTURE(barrier, thread, try_threads)->Arg(2)->Arg(4)->Arg(8)->UseManualTime()->Iterations(kTurns);
BENCHMARK_CAPTURE(barrier, shm, try_processes)->Arg(2)->Arg(4)->Arg(8)->UseManualTime()->Iterations(kTurns);

}  // namespace
}  // namespace reshard
