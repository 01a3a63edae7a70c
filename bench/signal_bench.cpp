// What waiting costs: one way of a notification, and a barrier, on every host fabric. Beside them, in the same run, the
// floor: two threads that spin on one flag (on an idle machine: where the two share a core, the flag is the slower).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "reshard/shm_fabric.h"
#include "reshard/thread_fabric.h"

namespace reshard {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t kRounds = 20'000;

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

void meet(Endpoint& e, SignalId) {
  const auto deadline = Clock::now() + 60s;
  for (std::uint64_t i = 0; i < kRounds; ++i) e.barrier(deadline);
}

double flag_hop_seconds() {
  std::atomic<std::uint64_t> flag{0};
  const auto play = [&flag](std::uint64_t parity) {
    for (std::uint64_t i = parity; i < 2 * kRounds; i += 2) {
      while (flag.load(std::memory_order_acquire) != i) {  // pairs with the store below
      }
      flag.store(i + 1, std::memory_order_release);  // pairs with the load above
    }
  };
  const auto start = Clock::now();
  std::jthread other([&] { play(1); });
  play(0);
  other.join();
  return std::chrono::duration<double>(Clock::now() - start).count() / (2 * kRounds);
}

template <class RunRanks>
void hop(benchmark::State& state, const RunRanks& run_ranks) {
  const Index ranks = state.range(0);
  double best_hop = 1, best_flag = 1;
  for (auto _ : state) {
    const double one = seconds_per_round(run_ranks, ranks, pass_token) / static_cast<double>(ranks);
    state.SetIterationTime(one);
    best_hop = std::min(best_hop, one);
    if (ranks == 2) best_flag = std::min(best_flag, flag_hop_seconds());
  }
  if (ranks == 2) state.counters["x_spin_flag"] = best_hop / best_flag;
}

template <class RunRanks>
void barrier(benchmark::State& state, const RunRanks& run_ranks) {
  for (auto _ : state) state.SetIterationTime(seconds_per_round(run_ranks, state.range(0), meet));
}

BENCHMARK_CAPTURE(hop, thread, try_threads)->Arg(2)->Arg(4)->Arg(8)->UseManualTime()->Iterations(5);
BENCHMARK_CAPTURE(hop, shm, try_processes)->Arg(2)->Arg(4)->Arg(8)->UseManualTime()->Iterations(5);
BENCHMARK_CAPTURE(barrier, thread, try_threads)->Arg(2)->Arg(4)->Arg(8)->UseManualTime()->Iterations(5);
BENCHMARK_CAPTURE(barrier, shm, try_processes)->Arg(2)->Arg(4)->Arg(8)->UseManualTime()->Iterations(5);

}  // namespace
}  // namespace reshard
