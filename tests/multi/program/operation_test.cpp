// Operations that plans do not have, in lists made by hand: casts, numbers, accumulating puts, and what is known only
// once memory is read.
#include <algorithm>
#include <memory>

#include "every_fabric.h"
#include "kernel/copy.h"
#include "reshard/executor.h"
#include "reshard/wrap.h"

namespace reshard::multi {
namespace {

class ProgramOperation : public EveryFabric {
 protected:
  void run_copying(const RankBody& body) const { run(body, {.copy = copy_strided}); }
};
RESHARD_ON_EVERY_FABRIC(ProgramOperation, {1, 2, 3, 7});

Program of(Index ranks, std::vector<WindowSpec> windows, const std::vector<Operation>& operations) {
  Program program{.name = "hand", .ranks = ranks, .windows = std::move(windows)};
  program.operations.assign(static_cast<std::size_t>(ranks), operations);
  return program;
}

WindowSpec buffer(const std::string& name, Index ranks, Index bytes, BufferRole role) {
  return {.name = name, .bytes = std::vector<Index>(static_cast<std::size_t>(ranks), bytes), .role = role};
}

// Memory of the rank alone for each buffer that is no window.
struct Bound {
  Bound(const Program& program, Endpoint& e) {
    for (const WindowSpec& window : program.windows) {
      const Index bytes = window.bytes[static_cast<std::size_t>(e.rank().value())];
      own.emplace_back(static_cast<std::size_t>(bytes));
      const bool is_window = window.role == BufferRole::window;
      binding.windows.push_back(is_window ? e.create_window(window.name, bytes, in_time()) : WindowId{});
      binding.memory.push_back(is_window ? e.memory(binding.windows.back()) : std::span<std::byte>(own.back()));
    }
    for (const SignalSpec& signal : program.signals)
      binding.signals.push_back(e.create_signal(signal.name, signal.slots, in_time()));
  }
  template <class T>
  std::span<T> at(std::size_t window) {
    const std::span<std::byte> bytes = binding.memory[window];
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  Binding binding;
  std::vector<std::vector<std::byte>> own;
};

TEST_P(ProgramOperation, CastsAndFillsInMemoryOfTheRankAlone) {
  run_copying([](Endpoint& e) {
    // Elements 0, 2, 4 of x as i16, backwards, between threes.
    const Reduction every_other{.counts = {3}, .result = {1, 10, {-4}}, .terms = {{0, 0, {8}}}};
    const Program program =
        of(e.ranks(), {buffer("x", e.ranks(), 20, BufferRole::input), buffer("y", e.ranks(), 12, BufferRole::output)},
           {{.code = OpCode::fill,
             .target_window = 1,
             .blocks = {{0, 0, 2, {{6, 0, 2}}}},
             .dtype = Dtype::i16,
             .number = 3},
            {.code = OpCode::cast, .dtype = Dtype::i16, .reductions = {every_other}, .source_dtype = Dtype::f32}});
    Executor executor(program, e);
    Bound bound(program, e);
    executor.bind(bound.binding);
    for (std::uint64_t run = 0; run < 3; ++run) {
      const auto x = bound.at<float>(0);
      for (std::size_t i = 0; i < 5; ++i)
        x[i] = 0.5f + static_cast<float>(1000 * e.rank().value()) + static_cast<float>(10 * run + i);
      executor.run(run, in_time());
      const auto y = bound.at<std::int16_t>(1);
      for (Index i = 0; i < 3; ++i) {
        // Half up or down, to the even one.
        const auto whole = static_cast<Index>(1000 * e.rank().value() + static_cast<Index>(10 * run) + 2 * i);
        expect_equal(e, "cast", y[static_cast<std::size_t>(5 - 2 * i)], whole + whole % 2);
        expect_equal(e, "filled", y[static_cast<std::size_t>(4 - 2 * i)], 3);
      }
      expect_equal(e, "bytes", executor.traffic().bytes_copied, 6);
    }
  });
}

// Of the next rank's x, 6 rows of 8, rows 1 to 4 and columns 2 to 5 come to t, and from there to y as i32.
Program cast_of_get(Index ranks, RankId me, const Reduction& cast, bool is_t_read) {
  Program program = of(ranks,
                       {buffer("x", ranks, 6 * 8 * 4, BufferRole::window), buffer("t", ranks, 64, BufferRole::local),
                        buffer("y", ranks, 64, BufferRole::output), buffer("z", ranks, 64, BufferRole::output)},
                       {});
  auto& operations = program.operations[static_cast<std::size_t>(me.value())];
  operations.push_back({.code = OpCode::get,
                        .peer = RankId((me.value() + 1) % ranks),
                        .source_window = 0,
                        .target_window = 1,
                        .blocks = {{(8 + 2) * 4, 0, 16, {{4, 32, 16}}}}});
  operations.push_back({.code = OpCode::cast, .dtype = Dtype::i32, .reductions = {cast}, .source_dtype = Dtype::f32});
  if (is_t_read)
    operations.push_back({.code = OpCode::copy, .source_window = 1, .target_window = 3, .blocks = {{0, 0, 64}}});
  return program;
}

// A cast may read where the get before it would, but only if nobody else wants what the get brings.
TEST_P(ProgramOperation, CastsOfWhatAGetBrings) {
  struct Case {
    Reduction cast;
    Index rows, columns;          // of what is cast
    Index row, column;            // its steps in t, in elements
    Index row_in_y, column_in_y;  // and in y
  };
  const Case cases[] = {
      {{.counts = {16}, .result = {2, 0, {4}}, .terms = {{1, 0, {4}}}}, 4, 4, 4, 1, 4, 1},
      {{.counts = {4, 4}, .result = {2, 0, {4, 16}}, .terms = {{1, 0, {16, 4}}}}, 4, 4, 4, 1, 1, 4},
      {{.counts = {2, 8}, .result = {2, 0, {4, 8}}, .terms = {{1, 0, {32, 4}}}}, 2, 8, 8, 1, 1, 2},
      {{.counts = {8}, .result = {2, 0, {4}}, .terms = {{1, 0, {8}}}}, 1, 8, 0, 2, 0, 1},
      {{.counts = {4}, .result = {2, 8, {4}}, .terms = {{1, 16, {4}}}}, 1, 4, 0, 1, 0, 1},
  };
  run_copying([&](Endpoint& inner) {
    CallCounts counts(inner.ranks());
    const std::unique_ptr<Endpoint> counting = counted(inner, counts);  // whose peers are reached by calls alone
    for (Endpoint* e : {&inner, counting.get()})
      for (const Case& c : cases)
        for (const bool is_t_read : {false, true}) {
          const Program program = cast_of_get(e->ranks(), e->rank(), c.cast, is_t_read);
          Executor executor(program, *e);
          Bound bound(program, *e);
          executor.bind(bound.binding);
          for (std::uint64_t run = 0; run < 3; ++run) {
            const auto x_of = [&](Index rank, Index i) {
              return static_cast<float>(1000 * (rank % e->ranks()) + static_cast<Index>(100 * run) + i) + 0.25f;
            };
            const auto x = bound.at<float>(0), z = bound.at<float>(3);
            for (Index i = 0; i < 48; ++i) x[static_cast<std::size_t>(i)] = x_of(e->rank().value(), i);
            e->barrier(in_time());
            executor.run(run, in_time());
            e->barrier(in_time());
            // Element k of t.
            const auto brought = [&](Index k) { return x_of(e->rank().value() + 1, 8 * (1 + k / 4) + 2 + k % 4); };
            const auto y = bound.at<std::int32_t>(2);
            for (Index i = 0; i < c.rows; ++i)
              for (Index j = 0; j < c.columns; ++j) {
                const Index k = c.cast.terms[0].offset / 4 + i * c.row + j * c.column,
                            at = c.cast.result.offset / 4 + i * c.row_in_y + j * c.column_in_y;
                expect_equal(*e, "cast", y[static_cast<std::size_t>(at)], static_cast<Index>(brought(k)));
              }
            for (Index k = 0; is_t_read && k < 16; ++k)
              expect_equal(*e, "brought", z[static_cast<std::size_t>(k)], brought(k));
            expect_equal(*e, "bytes", executor.traffic().bytes_got, 64);
            expect_equal(*e, "gets", executor.traffic().gets, 1);
          }
        }
  });
}

TEST_P(ProgramOperation, PeersReachWindowsOnly) {
  run_copying([](Endpoint& e) {
    const auto put = [&](BufferRole role) {
      return of(
          e.ranks(), {buffer("x", e.ranks(), 8, BufferRole::input), buffer("y", e.ranks(), 8, role)},
          {{.code = OpCode::put, .peer = e.rank(), .source_window = 0, .target_window = 1, .blocks = {{0, 0, 8, {}}}}});
    };
    expect_error(e, Code::invalid_argument, {"operation 0", "put reaches y, which is no window"},
                 [&] { Executor(put(BufferRole::local), e); });
    const Program program = put(BufferRole::window);
    Executor executor(program, e);
    Bound bound(program, e);
    bound.binding.windows[1] = {};
    expect_error(e, Code::invalid_argument, {"peers reach y", "this rank alone"},
                 [&] { executor.bind(bound.binding); });
    bound.binding.windows[0] = {};
    bound.binding.memory[0] = {};
    expect_error(e, Code::invalid_argument, {"x needs 8 bytes", "has 0"}, [&] { executor.bind(bound.binding); });
  });
}

TEST_P(ProgramOperation, RefusesWhatCannotBeCastOrAccumulated) {
  run_copying([](Endpoint& e) {
    const auto refused = [&](Code code, const std::string& what, const Operation& operation) {
      const Program program = of(e.ranks(), {buffer("x", e.ranks(), 64, BufferRole::window)}, {operation});
      expect_error(e, code, {what, "operation 0"}, [&] { Executor(program, e); });
    };
    const Reduction one{.counts = {}, .result = {0, 0, {}}, .terms = {{0, 16, {}}}};
    refused(Code::unsupported, "complex64 cannot be cast to f32",
            {.code = OpCode::cast, .dtype = Dtype::f32, .reductions = {one}, .source_dtype = Dtype::complex64});
    Operation put{.code = OpCode::put, .blocks = {{0, 32, 6, {}}}, .reduce_op = ReduceOp::avg, .accumulate = true};
    refused(Code::unsupported, "f32 cannot be accumulated by avg", put);
    put.reduce_op = ReduceOp::sum;
    refused(Code::invalid_argument, "rows of 6 bytes hold no whole number of f32", put);
    refused(Code::invalid_argument, "fill writes rows of one f32", {.code = OpCode::fill, .blocks = {{0, 0, 8, {}}}});
  });
}

// Expands by a function.
class By final : public Deferred {
 public:
  using Expand = std::function<void(MemoryReader&, std::vector<Operation>&)>;
  explicit By(Expand act) : act_(std::move(act)) {}
  void expand(MemoryReader& memory, std::vector<Operation>& operations) const override { act_(memory, operations); }

 private:
  Expand act_;
};

Operation later(By::Expand act, std::string label = "later") {
  return {.code = OpCode::deferred, .deferred = std::make_shared<const By>(std::move(act)), .label = std::move(label)};
}

// Copies as many of the elements behind the first as the first says; what it does is seen by what is deferred after it.
TEST_P(ProgramOperation, DeferredOperationsReadMemoryWhenTheyAreReached) {
  run_copying([](Endpoint& e) {
    const auto copy_as_said = [](MemoryReader& memory, std::vector<Operation>& operations) {
      const Index count = memory.integer(0, 0, Dtype::i32);
      operations.push_back({.code = OpCode::copy, .target_window = 1, .blocks = {{4, 0, count * 4, {}}}});
      // Behind it, its own first element: the copy is done by then.
      operations.push_back(later([count](MemoryReader& then, std::vector<Operation>& more) {
        more.push_back({.code = OpCode::fill,
                        .target_window = 1,
                        .blocks = {{0, count * 4, 4, {}}},
                        .dtype = Dtype::i32,
                        .number = then.integer(1, 0, Dtype::i32)});
      }));
    };
    const Program program =
        of(e.ranks(), {buffer("x", e.ranks(), 24, BufferRole::input), buffer("y", e.ranks(), 24, BufferRole::output)},
           {later(copy_as_said)});
    Executor executor(program, e);
    Bound bound(program, e);
    executor.bind(bound.binding);
    const auto x = bound.at<std::int32_t>(0), y = bound.at<std::int32_t>(1);
    for (std::int32_t count = 1; count <= 5; ++count) {
      std::ranges::fill(y, -7);
      x[0] = count;
      for (std::int32_t i = 1; i < 6; ++i)
        x[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(e.rank().value()) * 100 + count * 10 + i;
      executor.run(static_cast<std::uint64_t>(count), in_time());
      for (std::int32_t i = 0; i < 6; ++i)
        expect_equal(e, "y", y[static_cast<std::size_t>(i)],
                     i < count    ? x[static_cast<std::size_t>(i) + 1]
                     : i == count ? x[1]
                                  : -7);
    }
  });
}

// One that stands for the next, 20,000 deep, each with something to do behind it.
Operation countdown(Index from, Index& done) {
  return later([from, &done](MemoryReader&, std::vector<Operation>& operations) {
    ++done;
    if (from == 0) return;
    operations.push_back(countdown(from - 1, done));
    operations.push_back({.code = OpCode::fence});
  });
}

TEST_P(ProgramOperation, DeferredOperationsMayBeDeep) {
  run_copying([](Endpoint& e) {
    Index done = 0;
    Executor executor(of(e.ranks(), {}, {countdown(20'000, done)}), e);
    executor.bind({});
    executor.run(0, in_time());
    expect_equal(e, "expanded", done, 20'001);
  });
}

TEST_P(ProgramOperation, DeferredOperationsAreCheckedWhenReached) {
  run_copying([](Endpoint& e) {
    const auto me = std::to_string(e.rank().value());
    const auto deferred = [&](const Operation& operation) {
      return of(
          e.ranks(), {buffer("x", e.ranks(), 16, BufferRole::window)},
          {{.code = OpCode::fence},
           later([operation](MemoryReader&, std::vector<Operation>& operations) { operations.push_back(operation); },
                 "for j in 0..n")});
    };
    const auto fails = [&](const Operation& operation, const std::string& what) {
      Executor executor(deferred(operation), e);
      Bound bound(deferred(operation), e);
      executor.bind(bound.binding);
      expect_error(e, Code::invalid_argument,
                   {"program hand, operation 1 of rank " + me + " (for j in 0..n): " + operation.label, what},
                   [&] { executor.run(0, in_time()); });
      expect_equal(e, "refused", executor.refused(), false);
      expect_equal(e, "stopped at", executor.stopped_at(), 1);
    };
    fails({.code = OpCode::get, .peer = RankId(e.ranks()), .label = "get x <- x@9"},
          "peer " + std::to_string(e.ranks()));
    fails({.code = OpCode::put, .peer = e.rank(), .blocks = {{0, 12, 8, {}}}, .label = "put x <- x[0]"},
          "put reaches bytes [12, 20) of window x on rank " + me + ", which has 16");
    fails({.code = OpCode::notify, .peer = e.rank(), .signal = 0, .label = "notify s"}, "there is no signal 0");
    const auto reads = [&](Index offset) {
      return of(
          e.ranks(), {buffer("x", e.ranks(), 16, BufferRole::input)},
          {later([offset](MemoryReader& memory, std::vector<Operation>&) { memory.integer(0, offset, Dtype::i64); })});
    };
    Executor executor(reads(9), e);
    Bound bound(reads(9), e);
    executor.bind(bound.binding);
    expect_error(e, Code::invalid_argument, {"reads bytes [9, 17) of x, which has 16"},
                 [&] { executor.run(0, in_time()); });
  });
}

TEST_P(ProgramOperation, ARefusalIsPassedOnAndTheRunRepeated) {
  run_copying([](Endpoint& e) {
    const auto require = [](MemoryReader& memory, std::vector<Operation>&) {
      const Index value = memory.integer(0, 0, Dtype::i64);
      if (value != 0) throw Error(Code::invalid_argument, "x is " + std::to_string(value));
    };
    const Program program = of(e.ranks(), {buffer("x", e.ranks(), 8, BufferRole::input)}, {later(require)});
    Executor executor(program, e);
    Bound bound(program, e);
    executor.bind(bound.binding);
    for (std::uint64_t run = 0; run < 6; ++run) {
      bound.at<std::int64_t>(0)[0] = run % 2 == 0 ? 0 : 17;
      if (run % 2 == 0) {
        executor.run(run, in_time());
      } else {
        expect_error(e, Code::invalid_argument, {"x is 17"}, [&] { executor.run(run, in_time()); });
      }
      expect_equal(e, "refused", executor.refused(), run % 2 == 1);
    }
  });
}

// All ranks add what they hold to rank 0's window, in rows with gaps.
TEST_P(ProgramOperation, PutsAccumulateRowsWithGaps) {
  run_copying([](Endpoint& e) {
    Program program = of(
        e.ranks(), {buffer("x", e.ranks(), 24, BufferRole::input), buffer("sums", e.ranks(), 40, BufferRole::window)},
        {{.code = OpCode::put,
          .peer = RankId(0),
          .target_window = 1,
          .blocks = {{0, 4, 8, {{3, 8, 12}}}},
          .reduce_op = ReduceOp::max,
          .dtype = Dtype::i32,
          .accumulate = true},
         {.code = OpCode::fence},
         {.code = OpCode::notify, .peer = RankId(0), .value = 1, .notify_op = NotifyOp::add}});
    program.signals = {{.name = "done", .slots = 1}};
    program.operations[0].push_back({.code = OpCode::wait,
                                     .value = static_cast<std::uint64_t>(e.ranks()),
                                     .per_run = static_cast<std::uint64_t>(e.ranks())});
    Executor executor(program, e);
    Bound bound(program, e);
    executor.bind(bound.binding);
    const auto x = bound.at<std::int32_t>(0);
    // Each element is the greatest on another rank.
    for (Index i = 0; i < 6; ++i)
      x[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(100 * i + (e.rank().value() + i) % e.ranks() + 1);
    executor.run(0, in_time());
    expect_equal(e, "bytes", executor.traffic().bytes_put, 24);
    if (e.rank() != RankId(0)) return;
    const auto sums = bound.at<std::int32_t>(1);
    for (Index i = 0; i < 10; ++i) {
      const Index row = (i - 1) / 3, column = (i - 1) % 3;
      const bool is_gap = i == 0 || column == 2;
      expect_equal(e, "element " + std::to_string(i), sums[static_cast<std::size_t>(i)],
                   is_gap ? 0 : 100 * (2 * row + column) + e.ranks());
    }
  });
}

}  // namespace
}  // namespace reshard::multi
