// The copy kernel against memcpy, both timed in the same iteration: absolute rates drift from run to run, ratios less.
//
//   x_row_memcpy   speed relative to one memcpy per row of the same shape
//   x_memcpy       speed relative to one memcpy of as many contiguous bytes: what the machine can do at all
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "kernel/copy.h"

namespace reshard {
namespace {

using Seconds = std::chrono::duration<double>;

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  benchmark::ClobberMemory();
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

void copy_row_by_row(std::byte* target, const std::byte* source, Index row, const Stride& loop) {
  for (Index i = 0; i < loop.count; ++i) {
    std::memcpy(target + i * loop.target_bytes, source + i * loop.source_bytes, static_cast<std::size_t>(row));
  }
}

// The best of all iterations, in seconds: what other processes do on the machine only adds.
struct Best {
  double kernel = 1e9;
  double rows = 1e9;
  double memcpy = 1e9;
};

void report(benchmark::State& state, const Best& best, Index bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
  state.counters["x_row_memcpy"] = best.rows / best.kernel;
  state.counters["x_memcpy"] = best.memcpy / best.kernel;
}

void run_rows(benchmark::State& state, Index row, Index total, Index source_stride, Index target_stride) {
  const Stride loop{total / row, source_stride, target_stride};
  std::vector<std::byte> source(static_cast<std::size_t>(loop.count * source_stride), std::byte{1});
  std::vector<std::byte> target(static_cast<std::size_t>(loop.count * target_stride), std::byte{2});
  Best best;
  for (auto _ : state) {
    const double kernel = seconds_of(
        [&] { copy_strided(target.data(), source.data(), {.row_bytes = row, .loops = std::span(&loop, 1)}); });
    best.kernel = std::min(best.kernel, kernel);
    state.SetIterationTime(kernel);
    best.rows = std::min(best.rows, seconds_of([&] { copy_row_by_row(target.data(), source.data(), row, loop); }));
    best.memcpy = std::min(
        best.memcpy, seconds_of([&] { std::memcpy(target.data(), source.data(), static_cast<std::size_t>(total)); }));
  }
  report(state, best, loop.count * row);
}

// Every other row, packed: what a rank reads of a peer whose rows are longer.
void gather(benchmark::State& state) {
  run_rows(state, state.range(0), state.range(1), 2 * state.range(0), state.range(0));
}
void scatter(benchmark::State& state) {
  run_rows(state, state.range(0), state.range(1), state.range(0), 2 * state.range(0));
}

void contiguous(benchmark::State& state) {
  const Index total = state.range(0);
  run_rows(state, total, total, total, total);
}

void transpose(benchmark::State& state) {
  const Index element = state.range(0), side = 2048, total = side * side * element;
  const Stride loops[] = {{side, side * element, element}, {side, element, side * element}};
  std::vector<std::byte> source(static_cast<std::size_t>(total), std::byte{1}), target(source);
  Best best;
  for (auto _ : state) {
    const double kernel =
        seconds_of([&] { copy_strided(target.data(), source.data(), {.row_bytes = element, .loops = loops}); });
    best.kernel = std::min(best.kernel, kernel);
    state.SetIterationTime(kernel);
    best.rows = std::min(best.rows, seconds_of([&] {
                           for (Index i = 0; i < side; ++i) {
                             copy_row_by_row(target.data() + i * element, source.data() + i * side * element, element,
                                             loops[1]);
                           }
                         }));
    best.memcpy = std::min(
        best.memcpy, seconds_of([&] { std::memcpy(target.data(), source.data(), static_cast<std::size_t>(total)); }));
  }
  report(state, best, total);
}

void rows_and_totals(benchmark::internal::Benchmark* bench) {
  for (Index row : {4, 8, 16, 24, 64, 128, 256, 512, 1024, 4096, 16384, 65536}) bench->Args({row, Index{64} << 20});
  for (Index row : {64, 1024, 16384}) bench->Args({row, Index{256} << 10});
}

BENCHMARK(contiguous)->RangeMultiplier(4)->Range(1 << 12, 256 << 20)->UseManualTime();
BENCHMARK(gather)->Apply(rows_and_totals)->UseManualTime();
BENCHMARK(scatter)->Apply(rows_and_totals)->UseManualTime();
BENCHMARK(transpose)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->UseManualTime();

}  // namespace
}  // namespace reshard
