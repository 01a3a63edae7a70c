// Memory that was there before: what a get costs from a window over shared pages, from one left in place that the
// kernel copies, and from one that its owner serves, beside a window that the fabric made. Two processes, which
// read from each other at the same time, or one from the other, which waits and so may serve.
// `x_window`: speed as a ratio to that window's, of medians, turn by turn in one run. And what windows cost to make,
// for the first time and again.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string>

#include "kernel/copy.h"
#include "reshard/shm_fabric.h"

namespace reshard {
namespace {

using namespace std::chrono_literals;
constexpr int kTurns = 9;
constexpr Index kPitch = 2;  // rows: one that is read, one that is not

Clock::time_point in_time() { return Clock::now() + 60s; }

double seconds_of(const auto& act) {
  const auto start = Clock::now();
  act();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median_of(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + kTurns / 2, times.end());
  return times[kTurns / 2];
}

// What rank 0 reports by the only thing that leaves a process that runs to its end: the text of an error.
std::vector<double> run_two(const std::function<std::vector<double>(Endpoint&)>& measure, const RunOptions& options) {
  const auto outcomes = try_processes(
      2,
      [&](Endpoint& e) {
        std::ostringstream text;
        for (const double value : measure(e)) text << value << ' ';
        e.barrier(in_time());
        if (e.rank().value() == 0) throw Error(Code::internal, text.str());
      },
      options);
  std::istringstream text(outcomes.front().message);
  std::vector<double> values;
  for (double value = 0; text >> value;) values.push_back(value);
  return values;
}

// Medians of one get of `bytes` in rows: from a window, and from memory exposed as `how`.
std::vector<double> get_times(Endpoint& e, Index bytes, Index row, Exposure how, bool both) {
  std::vector<std::byte> memory(static_cast<std::size_t>(kPitch * bytes), std::byte{1}), target(bytes);
  const WindowId made = e.create_window("made", kPitch * bytes, in_time());
  const WindowId exposed = e.expose_window("exposed", memory, how, in_time());
  const Stride rows[] = {{bytes / row, kPitch * row, row}};
  const StridedCopy copy{.row_bytes = row, .loops = rows, .job_bytes = bytes};
  std::vector<double> from_made, from_exposed;
  const RankId other(1 - e.rank().value());
  const auto get_from = [&](WindowId window) {
    e.barrier(in_time());
    return seconds_of([&] {
      if (both || e.rank().value() == 0) e.get(other, window, copy, target);
      e.barrier(in_time());
    });
  };
  for (int turn = -1; turn < kTurns; ++turn) {
    const double a = get_from(made), b = get_from(exposed);
    if (turn < 0) continue;  // warm
    from_made.push_back(a);
    from_exposed.push_back(b);
  }
  return {median_of(from_made), median_of(from_exposed)};
}

void get(benchmark::State& state, Exposure how, bool by_kernel, bool both) {
  const Index bytes = state.range(0), row = state.range(1);
  std::vector<double> times;
  const RunOptions options{.copy = copy_strided, .kernel_copies = by_kernel};
  for (auto _ : state) {
    times = run_two([&](Endpoint& e) { return get_times(e, bytes, row, how, both); }, options);
    state.SetIterationTime(times[1]);
  }
  state.counters["GB_s"] = static_cast<double>(both ? 2 * bytes : bytes) / times[1] * 1e-9;
  state.counters["x_window"] = times[0] / times[1];
}

void create(benchmark::State& state) {
  const Index bytes = state.range(0);
  std::vector<double> times;
  for (auto _ : state) {
    times = run_two(
        [&](Endpoint& e) {
          std::vector<double> each;
          for (int turn = 0; turn < 3; ++turn) {
            WindowId window;
            each.push_back(seconds_of([&] { window = e.create_window("made", bytes, in_time()); }));
            e.destroy_window(window, in_time());
          }
          return each;
        },
        {});
    state.SetIterationTime(times[2]);
  }
  state.counters["first_ms"] = times[0] * 1e3;
  state.counters["x_first"] = times[0] / times[2];
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const Index bytes : {Index{4} << 10, Index{64} << 10, Index{1} << 20, Index{64} << 20})
    bench->Args({bytes, bytes});
  for (const Index row : {Index{256}, Index{4} << 10, Index{64} << 10}) bench->Args({Index{64} << 20, row});
  bench->UseManualTime()->Iterations(1);
}

BENCHMARK_CAPTURE(get, shared, Exposure::shared, true, true)->Apply(sizes);
BENCHMARK_CAPTURE(get, in_place_by_kernel, Exposure::in_place, true, true)->Apply(sizes);
BENCHMARK_CAPTURE(get, in_place_by_owner, Exposure::in_place, false, true)->Apply(sizes);
BENCHMARK_CAPTURE(get, one_way_by_kernel, Exposure::in_place, true, false)->Apply(sizes);
BENCHMARK_CAPTURE(get, one_way_by_owner, Exposure::in_place, false, false)->Apply(sizes);
BENCHMARK(create)->Arg(Index{64} << 20)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace reshard
