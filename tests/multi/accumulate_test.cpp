// accumulate: nothing is lost when all ranks add to the same elements at once; bounds as of put.
#include <cstring>
#include <limits>

#include "every_fabric.h"
#include "kernel/accumulate.h"
#include "reshard/dtype.h"

namespace reshard::multi {
namespace {

class Accumulate : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Accumulate, {1, 2, 3, 4, 7, 8});

using Update = Endpoint::Update;
using Until = Endpoint::Until;

// Rank 0 waits until all have said that they are done.
void finish(Endpoint& e, SignalId done) {
  e.fence();
  e.notify(RankId(0), done, 0, 1, Update::add);
  if (e.rank() == RankId(0)) e.wait(done, 0, e.ranks(), Until::greater_equal, in_time());
}

// Rank r adds (r + 1) * (i + 1) to element i of rank 0, 50 times: 50 (i + 1) n (n + 1) / 2 in the end.
TEST_P(Accumulate, AllRanksAddIntoOne) {
  run([](Endpoint& e) {
    constexpr Index count = 37;
    const WindowId window = e.create_window("sums", (count + 2) * 8, in_time());
    const SignalId done = e.create_signal("done", 1, in_time());
    std::vector<std::uint64_t> mine;
    for (Index i = 0; i < count; ++i) mine.push_back(static_cast<std::uint64_t>((e.rank().value() + 1) * (i + 1)));
    for (int round = 0; round < 50; ++round)
      e.accumulate(RankId(0), window, {.target_offset = 8, .row_bytes = count * 8}, std::as_bytes(std::span(mine)),
                   accumulate_kernel(ReduceOp::sum, Dtype::u64), in_time());
    finish(e, done);
    if (e.rank() != RankId(0)) return;
    for (Index i = 0; i < count; ++i)
      expect_equal(e, "sum " + std::to_string(i), elements(e, window)[static_cast<std::size_t>(i + 1)],
                   50 * (i + 1) * e.ranks() * (e.ranks() + 1) / 2);
    expect_equal(e, "before", elements(e, window)[0], 0);
    expect_equal(e, "behind", elements(e, window)[count + 1], 0);
  });
}

// One, in each dtype: its bytes are the product of nothing.
std::vector<std::byte> ones(Dtype dtype, Index count) {
  // 1 in f8e4m3, f8e5m2, f16, bf16.
  const auto one = [dtype]() -> std::uint64_t {
    switch (dtype) {
      case Dtype::f8e4m3: return 0x38;
      case Dtype::f8e5m2: return 0x3c;
      case Dtype::f16: return 0x3c00;
      case Dtype::bf16: return 0x3f80;
      case Dtype::f32:
      case Dtype::complex64: return 0x3f800000;
      case Dtype::f64:
      case Dtype::complex128: return 0x3ff0000000000000;
      default: return 1;
    }
  }();
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * bytes_of(dtype)));
  for (Index i = 0; i < count; ++i)
    std::memcpy(bytes.data() + i * bytes_of(dtype), &one,
                static_cast<std::size_t>(std::min<Index>(8, bytes_of(dtype))));
  return bytes;
}

// Sums of at most 8 ones are exact in every dtype; their bytes are compared with adding them up alone.
TEST_P(Accumulate, EveryDtype) {
  run([](Endpoint& e) {
    constexpr Index count = 5;
    const SignalId done = e.create_signal("done", 1, in_time());
    std::vector<WindowId> windows;
    for (const Dtype dtype : all_dtypes()) {
      windows.push_back(e.create_window(name_of(dtype), count * bytes_of(dtype), in_time()));
      const CopyKernel add = accumulate_kernel(ReduceOp::sum, dtype);
      e.accumulate(RankId(0), windows.back(), {.row_bytes = count * bytes_of(dtype)}, ones(dtype, count), add,
                   in_time());
    }
    finish(e, done);
    if (e.rank() != RankId(0)) return;
    for (const Dtype dtype : all_dtypes()) {
      std::vector<std::byte> alone(static_cast<std::size_t>(count * bytes_of(dtype)));
      for (Index r = 0; r < e.ranks(); ++r)
        accumulate_kernel(ReduceOp::sum, dtype)(alone.data(), ones(dtype, count).data(),
                                                {.row_bytes = count * bytes_of(dtype)});
      const auto there = e.memory(windows[static_cast<std::size_t>(dtype)]);
      if (!std::equal(there.begin(), there.end(), alone.begin()))
        report(e, "wrong sum of " + std::string(name_of(dtype)));
    }
  });
}

TEST_P(Accumulate, ChecksBoundsBeforeAnythingIsDone) {
  run([](Endpoint& e) {
    const WindowId window = e.create_window("sums", 16, in_time());
    const CopyKernel add = accumulate_kernel(ReduceOp::sum, Dtype::i32);
    const std::vector<std::byte> local(16);
    const auto call = [&](const StridedCopy& copy) { e.accumulate(next_of(e), window, copy, local, add, in_time()); };
    expect_error(e, Code::invalid_argument, {"accumulate at offset 4, length 16", "\"sums\"", "16 bytes"},
                 [&] { call({.target_offset = 4, .row_bytes = 16}); });
    expect_error(e, Code::invalid_argument, {"accumulate", "offset -4", "local memory of 16 bytes"},
                 [&] { call({.source_offset = -4, .row_bytes = 4}); });
    call({.target_offset = 99, .row_bytes = 0});
    e.barrier(in_time());
  });
}

// A rank that dies while it is at it keeps nobody waiting for ever.
void die(std::byte*, const std::byte*, const StridedCopy&) { std::_Exit(3); }

TEST_P(Accumulate, ARankThatDiesInTheMiddleIsLost) {
  if (!traits().may_die || ranks() < 2) return;
  const auto outcomes = try_run([](Endpoint& e) {
    const WindowId window = e.create_window("sums", 8, in_time());
    const std::vector<std::byte> local(8);
    if (e.rank() == RankId(1)) e.accumulate(RankId(0), window, {.row_bytes = 8}, local, die, in_time());
    // Until the gate is shut, adding succeeds.
    expect_error(e, Code::peer_lost, {"accumulate into window \"sums\" of rank 0", "rank 1"}, [&] {
      for (;;)
        e.accumulate(RankId(0), window, {.row_bytes = 8}, local, accumulate_kernel(ReduceOp::sum, Dtype::u64),
                     in_time());
    });
  });
  for (std::size_t r = 0; r < outcomes.size(); ++r)
    EXPECT_EQ(outcomes[r].end, r == 1 ? RankOutcome::End::exited : RankOutcome::End::returned) << outcomes[r].message;
}

}  // namespace
}  // namespace reshard::multi
