// Casts, folds and block scales against a copy that moves as many bytes, timed in the same iterations: absolute rates
// drift from run to run, ratios less. Times are of this thread's processor.
//
//   x_copy      speed relative to the copy kernel on contiguous memory, with as many bytes read and written together
//   x_none      speed relative to the same kernel without vectors
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "kernel/block_scale.h"
#include "kernel/cast.h"
#include "kernel/copy.h"
#include "kernel/instruction_sets.h"
#include "kernel/reduce.h"

namespace reshard {
namespace {

using Memory = std::vector<std::byte>;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
double seconds_of(const Work& work) {
  const double start = processor_seconds();
  work();
  benchmark::ClobberMemory();
  return processor_seconds() - start;
}

// Half of the bytes read, half written.
struct CopyOfAsMany {
  explicit CopyOfAsMany(Index moved) : bytes(moved / 2), source(static_cast<std::size_t>(bytes), std::byte{1}) {
    target = source;
  }
  void operator()() { copy_strided(target.data(), source.data(), {.row_bytes = bytes}); }

  Index bytes;
  Memory source, target;
};

// The best of all iterations: what other processes do on the machine only adds.
template <class Kernel, class Plain>
void compare(benchmark::State& state, Index moved, const Kernel& kernel, const Plain& without_vectors) {
  CopyOfAsMany copy(moved);
  double best = 1e9, best_copy = 1e9, best_plain = 1e9;
  for (auto _ : state) {
    const double seconds = seconds_of(kernel);
    state.SetIterationTime(seconds);
    best = std::min(best, seconds);
    best_copy = std::min(best_copy, seconds_of([&copy] { copy(); }));
    best_plain = std::min(best_plain, seconds_of(without_vectors));
  }
  state.counters["x_copy"] = best_copy / best;
  state.counters["x_none"] = best_plain / best;
  state.counters["GB_per_s"] = static_cast<double>(moved) / best * 1e-9;
}

template <class Make>
auto made_without_vectors(const Make& make) {
  kernel::use_instruction_set("none");
  auto made = make();
  kernel::use_instruction_set("");
  return made;
}

// Finite numbers of every dtype: a byte of 0x3b is about 1 in all of them.
Memory numbers(Index count, Dtype dtype) {
  return Memory(static_cast<std::size_t>(count * bytes_of(dtype)), std::byte{0x3b});
}

void cast(benchmark::State& state, Dtype from, Dtype to, Index count, Index row) {
  const Memory source = numbers(count, from);
  Memory target = numbers(count, to);
  const auto make = [&] { return CastKernel(from, to); };
  const CastKernel kernel = make(), plain = made_without_vectors(make);
  // Rows with a gap at the source, if they are not all.
  const Index f = bytes_of(from), t = bytes_of(to), pitch = row == count ? row : 2 * row;
  const Stride loops[] = {{count / pitch, pitch * f, row * t}, {row, f, t}};
  const auto run = [&](const CastKernel& k) { cast_strided(k, target.data(), source.data(), {.loops = loops}); };
  compare(
      state, count / pitch * row * (f + t), [&] { run(kernel); }, [&] { run(plain); });
}

void fold(benchmark::State& state, ReduceOp op, Dtype dtype, Index terms, Index count) {
  std::vector<Memory> memories(static_cast<std::size_t>(terms), numbers(count, dtype));
  Memory result = numbers(count, dtype);
  const Index width = bytes_of(dtype);
  std::vector<FoldRow> rows;
  for (const Memory& memory : memories) rows.push_back({memory.data(), width});
  const std::vector<Index> steps(static_cast<std::size_t>(terms), width);
  const auto make = [&] { return fold_kernel(op, dtype); };
  const FoldKernel kernel = make(), plain = made_without_vectors(make);
  const auto run = [&](const FoldKernel& k) {
    reduce(k, result.data(), rows, {{&count, 1}, {&width, 1}, steps}, terms);
  };
  compare(
      state, count * width * (terms + 1), [&] { run(kernel); }, [&] { run(plain); });
}

void block_scale(benchmark::State& state, Dtype values, BlockShape block, bool back) {
  const MatrixShape shape{4096, 4096};
  const Index count = shape.rows * shape.columns, width = bytes_of(values);
  Memory matrix = numbers(count, values), quantised = numbers(count, Dtype::f8e4m3);
  const auto make = [&] { return BlockScale(values, Dtype::f8e4m3, block); };
  const BlockScale kernel = make(), plain = made_without_vectors(make);
  std::vector<float> scales(static_cast<std::size_t>(kernel.scale_rows(shape) * kernel.scale_columns(shape)), 1);
  const auto run = [&](const BlockScale& k) {
    if (back)
      return k.dequantise(matrix.data(), shape.columns * width, quantised.data(), shape.columns, scales.data(), shape);
    k.quantise(quantised.data(), shape.columns, scales.data(), matrix.data(), shape.columns * width, shape);
  };
  compare(
      state, count * (width + 1), [&] { run(kernel); }, [&] { run(plain); });
}

std::string text_of(Index count) {
  return count >= 1 << 20 ? std::to_string(count >> 20) + "M" : std::to_string(count >> 10) + "K";
}

template <class... Arguments>
void add(const std::string& name, void (*bench)(benchmark::State&, Arguments...), Arguments... arguments) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    bench(state, arguments...);
  })->UseManualTime();
}

void add_casts() {
  using enum Dtype;
  constexpr std::pair<Dtype, Dtype> kPairs[] = {{f32, bf16},   {bf16, f32}, {f32, f16},     {f16, f32},  {f32, f8e4m3},
                                                {f8e4m3, f32}, {f32, f64},  {f64, f32},     {f64, bf16}, {f16, bf16},
                                                {i32, f32},    {f32, u8},   {f8e4m3, bf16}, {i64, f32}};
  for (const auto& [from, to] : kPairs) {
    const std::string name = "cast/" + std::string(name_of(from)) + "/" + std::string(name_of(to)) + "/";
    for (const Index count : {Index{16} << 10, Index{16} << 20})
      add(name + text_of(count), cast, from, to, count, count);
  }
  for (const Index row : {32, 256, 4096})
    add("cast_rows/f32/bf16/" + std::to_string(row), cast, f32, bf16, Index{32} << 20, row);
}

void add_folds() {
  using enum Dtype;
  for (const Dtype dtype : {f32, f64, bf16, f16, f8e4m3, i32, i8})
    for (const Index terms : {2, 4, 8})
      for (const Index count : {Index{8} << 10, Index{8} << 20})
        add("fold/sum/" + std::string(name_of(dtype)) + "/" + std::to_string(terms) + "/" + text_of(count), fold,
            ReduceOp::sum, dtype, terms, count);
  add("fold/max/f32/2/8M", fold, ReduceOp::max, f32, Index{2}, Index{8} << 20);
  add("fold/avg/bf16/4/8M", fold, ReduceOp::avg, bf16, Index{4}, Index{8} << 20);
}

void add_block_scales() {
  for (const Dtype values : {Dtype::f32, Dtype::bf16})
    for (const Index rows : {1, 128})
      for (const bool back : {false, true})
        add(std::string(back ? "dequantise/" : "quantise/") + std::string(name_of(values)) + "/" +
                std::to_string(rows) + "x128",
            block_scale, values, BlockShape{rows, 128}, back);
}

}  // namespace
}  // namespace reshard

int main(int argc, char** argv) {
  reshard::add_casts();
  reshard::add_folds();
  reshard::add_block_scales();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
