#include "reshard/executor.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "fabric/wrap/forward_endpoint.h"
#include "reshard/error.h"
#include "reshard/thread_fabric.h"

namespace reshard {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Le;

constexpr Index ranks = 3;
constexpr Index cells = 10;

Clock::time_point soon() { return Clock::now() + 20s; }

// Each rank reads all of its right neighbour's "source" into its "target", then copies its own first cell to the end.
Program ring() {
  Program program{.name = "ring", .ranks = ranks};
  program.windows = {{"source", {cells * 4, cells * 4, cells * 4}}, {"target", {44, 44, 44}}};
  program.signals = {{"ready", ranks}, {"done", ranks}};
  for (Index r = 0; r < ranks; ++r) {
    const RankId right((r + 1) % ranks), left((r + ranks - 1) % ranks);
    program.operations.push_back({
        {.code = OpCode::notify, .peer = left, .signal = 0, .slot = r, .value = 1, .per_run = 1},
        {.code = OpCode::wait, .signal = 0, .slot = right.value(), .value = 1, .per_run = 1},
        // Even cells to the front, odd ones behind them.
        {.code = OpCode::get, .peer = right, .target_window = 1, .blocks = {{0, 0, 4, {{2, 4, 20}, {5, 8, 4}}}}},
        {.code = OpCode::notify, .peer = right, .signal = 1, .slot = r, .value = 1, .per_run = 1},
        {.code = OpCode::copy, .target_window = 1, .blocks = {{0, 40, 4, {}}}},
        {.code = OpCode::wait, .signal = 1, .slot = left.value(), .value = 1, .per_run = 1},
    });
  }
  return program;
}

Binding bind_all(const Program& program, Endpoint& endpoint) {
  Binding binding;
  for (const WindowSpec& w : program.windows) {
    const Index bytes = w.bytes[static_cast<std::size_t>(endpoint.rank().value())];
    binding.windows.push_back(endpoint.create_window(w.name, bytes, soon()));
  }
  for (const SignalSpec& s : program.signals)
    binding.signals.push_back(endpoint.create_signal(s.name, s.slots, soon()));
  return binding;
}

std::span<std::int32_t> ints(Endpoint& endpoint, WindowId window) {
  const auto bytes = endpoint.memory(window);
  return {reinterpret_cast<std::int32_t*>(bytes.data()), bytes.size() / 4};
}

std::int32_t value(std::uint64_t run, RankId rank, Index cell) {
  return static_cast<std::int32_t>(1000 * static_cast<Index>(run % 1000) + 100 * rank.value() + cell);
}

void expect_ring(Executor& executor, Endpoint& endpoint, const Binding& binding, std::uint64_t run) {
  for (Index i = 0; i < cells; ++i) {
    ints(endpoint, binding.windows[0])[static_cast<std::size_t>(i)] = value(run, endpoint.rank(), i);
  }
  executor.run(run, soon());
  const auto target = ints(endpoint, binding.windows[1]);
  const RankId right((endpoint.rank().value() + 1) % ranks);
  for (Index i = 0; i < cells; ++i) {
    EXPECT_EQ(target[static_cast<std::size_t>(i)], value(run, right, i < 5 ? 2 * i : 2 * (i - 5) + 1));
  }
  EXPECT_EQ(target[10], value(run, endpoint.rank(), 0));
}

TEST(Executor, RunsAgainAndAgain) {
  run_threads(ranks, [](Endpoint& endpoint) {
    Executor executor(ring(), endpoint);
    const Binding binding = bind_all(ring(), endpoint);
    executor.bind(binding);
    for (std::uint64_t run = 0; run < 100; ++run) expect_ring(executor, endpoint, binding, run);
  });
}

TEST(Executor, SignalsPassThirtyTwoBits) {
  run_threads(ranks, [](Endpoint& endpoint) {
    Executor executor(ring(), endpoint);
    const Binding binding = bind_all(ring(), endpoint);
    executor.bind(binding);
    for (std::uint64_t run = (std::uint64_t{1} << 32) - 3; run < (std::uint64_t{1} << 32) + 3; ++run) {
      expect_ring(executor, endpoint, binding, run);
    }
  });
}

TEST(Executor, CountsWhatItDid) {
  run_threads(ranks, [](Endpoint& endpoint) {
    Executor executor(ring(), endpoint);
    executor.bind(bind_all(ring(), endpoint));
    for (std::uint64_t run = 0; run < 2; ++run) {
      executor.run(run, soon());
      EXPECT_EQ(executor.traffic(), (Traffic{.bytes_got = 40,
                                             .bytes_put = 0,
                                             .bytes_copied = 4,
                                             .gets = 1,
                                             .puts = 0,
                                             .notifications = 2,
                                             .waits = 2}));
    }
  });
}

TEST(Executor, PutsAfterAFenceAreSeen) {
  Program program{.name = "push", .ranks = 2};
  program.windows = {{"source", {8, 8}}, {"target", {8, 8}}};
  program.signals = {{"landed", 2}};
  for (Index r = 0; r < 2; ++r) {
    const RankId peer(1 - r);
    program.operations.push_back({
        {.code = OpCode::put, .peer = peer, .target_window = 1, .blocks = {{0, 4, 4, {{2, 4, -4}}}}},
        {.code = OpCode::fence},
        {.code = OpCode::notify, .peer = peer, .slot = r, .value = 1, .notify_op = NotifyOp::add},
        {.code = OpCode::wait, .slot = peer.value(), .value = 1, .per_run = 1, .compare = WaitCompare::equal},
    });
  }
  run_threads(2, [&](Endpoint& endpoint) {
    Executor executor(program, endpoint);
    const Binding binding = bind_all(program, endpoint);
    executor.bind(binding);
    const auto source = ints(endpoint, binding.windows[0]);
    source[0] = value(0, endpoint.rank(), 0);
    source[1] = value(0, endpoint.rank(), 1);
    executor.run(0, soon());
    const RankId peer(1 - endpoint.rank().value());
    EXPECT_EQ(ints(endpoint, binding.windows[1])[0], value(0, peer, 1));
    EXPECT_EQ(ints(endpoint, binding.windows[1])[1], value(0, peer, 0));
    EXPECT_EQ(executor.traffic().bytes_put, 8);
    EXPECT_EQ(executor.traffic().puts, 1);
  });
}

// Lets no message pass that is longer than `limit`.
class NarrowEndpoint final : public fabric::ForwardEndpoint {
 public:
  NarrowEndpoint(Endpoint& inner, Index limit) : ForwardEndpoint(inner), limit_(limit) {}
  Capabilities capabilities() const override {
    Capabilities c = ForwardEndpoint::capabilities();
    c.max_message = limit_;
    return c;
  }
  void get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) override {
    Index bytes = copy.row_bytes;
    for (const Stride& s : copy.loops) bytes *= s.count;
    EXPECT_THAT(bytes, Le(limit_));
    ForwardEndpoint::get(peer, window, copy, target);
  }

 private:
  Index limit_;
};

TEST(Executor, SplitsWhatExceedsTheGreatestMessage) {
  for (const Index limit : {1, 3, 4, 7, 8, 20, 24, 39}) {
    run_threads(ranks, [limit](Endpoint& inner) {
      NarrowEndpoint endpoint(inner, limit);
      Executor executor(ring(), endpoint);
      const Binding binding = bind_all(ring(), endpoint);
      executor.bind(binding);
      expect_ring(executor, endpoint, binding, 0);
      EXPECT_EQ(executor.traffic().gets, 1);
    });
  }
}

// Terms in the order given, from two windows; the identity where nothing is folded.
TEST(Executor, FoldsAndFills) {
  Program program{.name = "fold", .ranks = ranks};
  program.windows = {{"source", {40, 40, 40}}, {"target", {44, 44, 44}}};
  program.signals = {};
  const Reduction fold{.counts = {5}, .result = {1, 0, {8}}, .terms = {{0, 20, {4}}, {0, 0, {4}}, {0, 16, {-4}}}};
  program.operations.assign(
      ranks,
      {{.code = OpCode::fill,
        .target_window = 1,
        .blocks = {{0, 4, 4, {{5, 0, 8}}}},
        .reduce_op = ReduceOp::min,
        .dtype = Dtype::i32},
       {.code = OpCode::reduce, .reduce_op = ReduceOp::avg, .dtype = Dtype::i32, .divisor = 2, .reductions = {fold}}});
  run_threads(ranks, [&](Endpoint& endpoint) {
    Executor executor(program, endpoint);
    const Binding binding = bind_all(program, endpoint);
    executor.bind(binding);
    const auto source = ints(endpoint, binding.windows[0]);
    for (std::uint64_t run = 0; run < 3; ++run) {
      for (Index i = 0; i < cells; ++i) source[static_cast<std::size_t>(i)] = value(run, endpoint.rank(), i);
      executor.run(run, soon());
      const auto target = ints(endpoint, binding.windows[1]);
      for (Index i = 0; i < 5; ++i) {
        const auto v = [&](Index cell) { return value(run, endpoint.rank(), cell); };
        EXPECT_EQ(target[static_cast<std::size_t>(2 * i)], (v(5 + i) + v(i) + v(4 - i)) / 2);
        EXPECT_EQ(target[static_cast<std::size_t>(2 * i + 1)], INT32_MAX);
      }
      EXPECT_EQ(executor.traffic().bytes_reduced, 20);
    }
  });
}

void expect_refused(const Program& program, const std::string& what) {
  run_threads(ranks, [&](Endpoint& endpoint) {
    if (endpoint.rank() != RankId(0)) return;
    try {
      Executor executor(program, endpoint);
      ADD_FAILURE() << "not refused: " << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr(what));
    }
  });
}

TEST(Executor, RefusesWhatLeavesItsWindow) {
  Program program = ring();
  program.windows[0].bytes[1] = 39;
  expect_refused(program, "operation 2: get reaches bytes [0, 40) of window source on rank 1, which has 39");
  program = ring();
  program.operations[0][2].blocks[0].loops[1].target_stride = -8;
  expect_refused(program, "get reaches bytes [-32, 24) of window target on rank 0");
  program = ring();
  program.operations[0][2].peer = RankId(3);
  expect_refused(program, "peer 3 is outside the world of 3 ranks");
  program = ring();
  program.operations[0][2].target_window = 2;
  expect_refused(program, "there is no window 2");
  program = ring();
  program.operations[0][1].signal = -1;
  expect_refused(program, "there is no signal -1");
  program = ring();
  program.operations[0].push_back({.code = OpCode::reduce, .reductions = {{{11}, {1, 0, {4}}, {{0, 0, {4}}}}}});
  expect_refused(program, "operation 6: reduce reaches bytes [0, 44) of window source on rank 0, which has 40");
  program.operations[0].back().reductions = {{{2, 3}, {1, 0, {4}}, {{0, 0, {4, 4}}}}};
  expect_refused(program, "an operand of a reduction has 1 strides for 2 loops");
  program.operations[0].back().reductions = {{{2}, {1, 0, {4}}, {}}};
  expect_refused(program, "a reduction has no terms");
  program.operations[0].back() = {.code = OpCode::fill, .target_window = 1, .blocks = {{0, 41, 4, {}}}};
  expect_refused(program, "fill reaches bytes [41, 45) of window target on rank 0, which has 44");
  program = ring();
  program.ranks = 4;
  expect_refused(program, "is for 4 ranks, but the fabric has 3");
}

TEST(Executor, RefusesOpsThatTheDtypeDoesNotHave) {
  Program program = ring();
  program.operations[0].push_back({.code = OpCode::reduce,
                                   .reduce_op = ReduceOp::max,
                                   .dtype = Dtype::complex64,
                                   .reductions = {{{}, {1, 0, {}}, {{0, 0, {}}}}}});
  run_threads(ranks, [&](Endpoint& endpoint) {
    if (endpoint.rank() != RankId(0)) return;
    try {
      Executor executor(program, endpoint);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::unsupported);
      EXPECT_THAT(error.what(), HasSubstr("complex64 cannot be reduced by max"));
    }
  });
}

// A buffer that is smaller than its description is found before a byte moves, on every rank that would touch it.
TEST(Executor, RefusesSmallBuffersWhenBound) {
  run_threads(ranks, [](Endpoint& endpoint) {
    Executor executor(ring(), endpoint);
    EXPECT_THROW(executor.run(0, soon()), Error);
    const Index bytes = endpoint.rank() == RankId(1) ? 20 : 40;
    Binding binding;
    binding.windows = {endpoint.create_window("w", bytes, soon()), endpoint.create_window("t", 44, soon())};
    binding.signals = {endpoint.create_signal("ready", 3, soon()), endpoint.create_signal("done", 3, soon())};
    if (endpoint.rank() == RankId(2)) {
      executor.bind(binding);
      return;
    }
    try {
      executor.bind(binding);
      ADD_FAILURE() << "bound";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr("window source needs 40 bytes on rank 1, but the buffer there has 20"));
    }
  });
}

TEST(Executor, ErrorsNameProgramAndOperation) {
  run_threads(ranks, [](Endpoint& endpoint) {
    Executor executor(ring(), endpoint);
    executor.bind(bind_all(ring(), endpoint));
    if (endpoint.rank() == RankId(1)) return;  // never says that its source is ready
    try {
      executor.run(0, Clock::now() + 50ms);
      ADD_FAILURE() << "rank " << endpoint.rank().value() << " did not time out";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::timeout);
      EXPECT_THAT(error.what(), HasSubstr("program ring, operation "));
      if (endpoint.rank() == RankId(0)) {
        EXPECT_THAT(error.what(), HasSubstr("operation 1 of rank 0 (wait ready[1])"));
      }
    }
  });
}

}  // namespace
}  // namespace reshard
