// The copy kernel against plain loops, timed in the same iterations: absolute rates drift from run to run, ratios less.
// Times are of this thread's processor, so that others on the machine disturb them only through its caches and memory.
//
//   x_row_memcpy   speed relative to one memcpy per row of the same shape
//   x_row_nt       speed relative to stores past the cache for each row of the same shape, from rows of 64 bytes on
//   x_memcpy       speed relative to one memcpy of as many contiguous bytes: what the machine can do at all
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "kernel/copy.h"

namespace reshard {
namespace {

// Memory that begins a cache line, as windows do; touched.
class Lines {
 public:
  explicit Lines(Index bytes)
      : memory_(static_cast<std::byte*>(operator new (static_cast<std::size_t>(bytes), std::align_val_t{4096}))) {
    std::memset(memory_.get(), 1, static_cast<std::size_t>(bytes));
  }
  std::byte* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { operator delete (memory, std::align_val_t{4096}); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The second of two runs: each finds the caches as it left them itself.
template <class Work>
double seconds_of(const Work& work) {
  work();
  const double start = processor_seconds();
  work();
  benchmark::ClobberMemory();
  return processor_seconds() - start;
}

void copy_row_by_row(std::byte* target, const std::byte* source, Index row, const Stride& loop) {
  for (Index i = 0; i < loop.count; ++i) {
    std::memcpy(target + i * loop.target_bytes, source + i * loop.source_bytes, static_cast<std::size_t>(row));
  }
}

#if defined(__x86_64__)
void store_past_the_cache(std::byte* target, const std::byte* source, Index bytes) {
  const Index head = static_cast<Index>(-reinterpret_cast<std::uintptr_t>(target) % 16);
  std::memcpy(target, source, static_cast<std::size_t>(head));
  Index done = head;
  for (; done + 16 <= bytes; done += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + done),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + done)));
  std::memcpy(target + done, source + done, static_cast<std::size_t>(bytes - done));
}
void fence_stores() { _mm_sfence(); }
#else
void store_past_the_cache(std::byte* target, const std::byte* source, Index bytes) {
  std::memcpy(target, source, static_cast<std::size_t>(bytes));
}
void fence_stores() {}
#endif

void copy_rows_past_the_cache(std::byte* target, const std::byte* source, Index row, const Stride& loop) {
  for (Index i = 0; i < loop.count; ++i)
    store_past_the_cache(target + i * loop.target_bytes, source + i * loop.source_bytes, row);
  fence_stores();
}

// The best of all iterations, in seconds: what other processes do on the machine only adds.
struct Best {
  double kernel = 1e9;
  double rows = 1e9;
  double past_the_cache = 1e9;
  double memcpy = 1e9;
};

void report(benchmark::State& state, const Best& best, Index bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
  state.counters["x_row_memcpy"] = best.rows / best.kernel;
  if (best.past_the_cache < 1e9) state.counters["x_row_nt"] = best.past_the_cache / best.kernel;
  state.counters["x_memcpy"] = best.memcpy / best.kernel;
}

void run_rows(benchmark::State& state, Index row, Index total, Index source_stride, Index target_stride) {
  const Stride loop{total / row, source_stride, target_stride};
  const Lines source(std::max(total, loop.count * source_stride)), target(std::max(total, loop.count * target_stride));
  Best best;
  for (auto _ : state) {
    const double kernel = seconds_of(
        [&] { copy_strided(target.data(), source.data(), {.row_bytes = row, .loops = std::span(&loop, 1)}); });
    best.kernel = std::min(best.kernel, kernel);
    state.SetIterationTime(kernel);
    best.rows = std::min(best.rows, seconds_of([&] { copy_row_by_row(target.data(), source.data(), row, loop); }));
    if (row >= 64) {
      best.past_the_cache = std::min(
          best.past_the_cache, seconds_of([&] { copy_rows_past_the_cache(target.data(), source.data(), row, loop); }));
    }
    best.memcpy = std::min(
        best.memcpy, seconds_of([&] { std::memcpy(target.data(), source.data(), static_cast<std::size_t>(total)); }));
  }
  report(state, best, loop.count * row);
}

// Every other row, packed: what a rank reads of a peer whose rows are longer. Or rows a page or more apart.
Index pitch_of(Index row, Index pitch) { return std::max(2 * row, pitch); }
void gather(benchmark::State& state) {
  run_rows(state, state.range(0), state.range(1), pitch_of(state.range(0), state.range(2)), state.range(0));
}
void scatter(benchmark::State& state) {
  run_rows(state, state.range(0), state.range(1), state.range(0), pitch_of(state.range(0), state.range(2)));
}

void contiguous(benchmark::State& state) {
  const Index total = state.range(0);
  run_rows(state, total, total, total, total);
}

void transpose(benchmark::State& state) {
  const Index element = state.range(0), side = 2048, total = side * side * element;
  const Stride loops[] = {{side, side * element, element}, {side, element, side * element}};
  const Lines source(total), target(total);
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
  for (Index row = 1; row <= 65536; row *= 2) bench->Args({row, Index{64} << 20, 0});
  for (Index row : {3, 12, 24, 48, 96, 200, 1000}) bench->Args({row, Index{64} << 20, 0});
  for (Index row : {16, 64, 256, 1024}) bench->Args({row, Index{row} << 14, 32768});
  for (Index row : {64, 1024, 16384}) bench->Args({row, Index{256} << 10, 0});
}

BENCHMARK(contiguous)->RangeMultiplier(4)->Range(1 << 12, 256 << 20)->UseManualTime();
BENCHMARK(gather)->Apply(rows_and_totals)->UseManualTime();
BENCHMARK(scatter)->Apply(rows_and_totals)->UseManualTime();
BENCHMARK(transpose)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->UseManualTime();

}  // namespace
}  // namespace reshard
