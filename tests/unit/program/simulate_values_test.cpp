// What programs may do with memory, on simulated ranks.
#include <gmock/gmock.h>

#include <cstring>

#include "reshard/error.h"
#include "reshard/simulate.h"
#include "simulate_programs.h"

namespace reshard {
namespace {

using simulate_test::devices;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kSeeds = 50;

void expect_correct(const SymbolicProgram& program, SimulateOptions options) {
  for (options.seed = 0; options.seed < kSeeds; ++options.seed) {
    const SimulateReport report = simulate(program, options);
    ASSERT_TRUE(report.correct) << "seed " << options.seed << ": " << report.message;
  }
}

// A barrier of one round on a counter that grows by one in each.
void meet(Kernel& k, const SignalRef& signal, const Expression& round) {
  k.each_peer([&](auto p) { k.notify(signal[k.me()].on(p), Add, 1); });
  k.each_peer([&](auto s) { k.wait(signal[s], Ge, round); });
}

TEST(SimulateValues, AccumulatingPutsAddUp) {
  const SymbolicProgram program = reshard::program("accumulate", [](Kernel& k) {
    const auto x = k.input("x", Dtype::i32, {5}), y = k.output("y", Dtype::i32, {5});
    const auto sum = k.window("total", Dtype::i32, {5});
    const auto signal = k.signal("met", {k.ranks()});
    const auto s = Expression::variable("s");
    k.expect_rule(
        {"y",
         {"j"},
         Expression::make(Expression::Kind::fold, {0, k.ranks(), x.on(s).at(Expression::variable("j")).value()}, "s",
                          ReduceOp::sum)});
    k.fill(sum, 0);
    meet(k, signal, 3 * k.call() - 2);
    k.each_rank([&](auto p) { k.accumulate(ReduceOp::sum, sum.on(p), x); });
    k.fence();
    meet(k, signal, 3 * k.call() - 1);
    k.copy(y, sum);
    meet(k, signal, 3 * k.call());
  });
  for (const Index ranks : {1, 3, 4}) expect_correct(program, {.devices = devices(ranks), .calls = 2});
}

// f16 partial sums in another order: as near as f16 can be.
TEST(SimulateValues, FloatsMayRound) {
  const SymbolicProgram program = reshard::program("sums", [](Kernel& k) {
    const auto x = k.input("x", Dtype::f16, {3, 7}), y = k.output("y", Dtype::f16, {7});
    const auto half = k.local("half", Dtype::f16, {7});
    k.init(x, [](auto d, auto j) { return 1000 + 777 * d + j; });
    k.expect(y, [&](auto j) { return x.at(0, j).value() + x.at(1, j).value() + x.at(2, j).value(); });
    k.reduce(half, ReduceOp::sum, {x.row(2), x.row(1)});
    k.reduce(y, ReduceOp::sum, {half, x.row(0)});
  });
  expect_correct(program, {.devices = {0}});
}

TEST(SimulateValues, CopiesAreExact) {
  const SymbolicProgram program = reshard::program("off", [](Kernel& k) {
    const auto x = k.input("x", Dtype::f32, {4}), y = k.output("y", Dtype::f32, {4});
    k.init(x, [](auto j) { return 1000000 + j; });
    k.expect(y, [&](auto j) { return x.at(j).value(); });
    k.copy(y.rows(0, 3), x.rows(0, 3));
    k.copy(y.row(3), x.row(2));
  });
  EXPECT_THAT(simulate(program, {.devices = {0}}).message,
              HasSubstr("rank 0 holds 1000002 in y[3], expected 1000003, which x[3] of rank 0 was"));
}

// Counts and indices from memory; rows without an index keep what they held.
TEST(SimulateValues, DeferredLoopsReadMemory) {
  const SymbolicProgram program = reshard::program("gather", [](Kernel& k) {
    const auto rows = k.input("rows", Dtype::i32, {6, 3}), index = k.input("index", Dtype::i32, {4});
    const auto count = k.input("count", Dtype::i32, {1});
    const auto y = k.output("y", Dtype::i32, {4, 3});
    k.init(index, [&](auto j) { return (5 * j + k.me()) % 6; });
    k.init(count, [&](auto) { return (k.me() + k.call()) % 5; });
    k.expect(
        y, [&](auto j, auto h) { return rows.at(index.row(j).value(), h).value(); },
        Expression::variable("i0") < count.row(0).value());
    k.each(0, count.row(0).value(), [&](auto j) { k.copy(y.row(j), rows.row(index.row(j).value())); });
  });
  for (const Index ranks : {1, 3}) expect_correct(program, {.devices = devices(ranks), .calls = 4});
}

// Outputs and local memory are wiped out before each call.
TEST(SimulateValues, LeftoversShow) {
  const SymbolicProgram program = reshard::program("once", [](Kernel& k) {
    const auto y = k.output("y", Dtype::u8, {2});
    k.expect(y, [](auto) { return 7; });
    k.when(equals(k.call(), 1), [&] { k.fill(y, 7); });
  });
  EXPECT_TRUE(simulate(program).correct);
  EXPECT_THAT(simulate(program, {.devices = {0}, .calls = 2}).message,
              HasSubstr("after call 2 rank 0 holds 165 in y[0], expected 7"));
}

TEST(SimulateValues, WindowsOutliveCalls) {
  const SymbolicProgram program = reshard::program("count", [](Kernel& k) {
    const auto y = k.output("y", Dtype::i32, {1}), one = k.local("one", Dtype::i32, {1});
    const auto kept = k.window("kept", Dtype::i32, {1});
    k.expect(y, [&](auto) { return k.call(); });
    k.fill(one, 1);
    k.reduce(kept, ReduceOp::sum, {kept, one});
    k.copy(y, kept);
  });
  expect_correct(program, {.devices = devices(2), .calls = 5});
}

SymbolicProgram refusing(const Expression& fails) {
  return program("refusing", [&](Kernel& k) {
    const auto n = k.input("n", Dtype::i32, {1}), y = k.output("y", Dtype::i32, {1});
    k.init(n, [&](auto) { return k.call(); });
    k.expect(y, [&](auto) { return k.call(); });
    k.require(!fails, "call {call} of rank {me} is one too many");
    k.require(n.row(0).value() < 3, "count {n[0]} exceeds 2");
    k.copy(y, n);
  });
}

TEST(SimulateValues, ARefusedCallIsNoResult) {
  const SimulateReport report = simulate(refusing(Expression(0)), {.calls = 3});
  EXPECT_TRUE(report.finished);
  EXPECT_FALSE(report.correct);
  EXPECT_EQ(report.wrong_elements, 0);
  ASSERT_EQ(report.refusals.size(), 2U);
  EXPECT_EQ(report.refusals[0].call, 3);
  EXPECT_THAT(report.message, HasSubstr("call 3 was refused on every rank: "));
  EXPECT_THAT(report.message, HasSubstr("count 3 exceeds 2"));
}

TEST(SimulateValues, TheSourceOfAPutIsReadWhenItArrives) {
  const SymbolicProgram program = reshard::program("reused", [](Kernel& k) {
    const auto y = k.output("y", Dtype::i32, {1});
    const auto from = k.window("from", Dtype::i32, {1}), to = k.window("to", Dtype::i32, {1});
    k.expect(y, [](auto) { return 1; });
    k.fill(from, 1);
    k.put(to.on(k.me()), from);
    k.fill(from, 2);
    k.fence();
    k.copy(y, to);
  });
  Index wrong = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    wrong += simulate(program, {.devices = {0}, .seed = seed}).correct ? 0 : 1;
  EXPECT_GT(wrong, 0);
  EXPECT_LT(wrong, static_cast<Index>(kSeeds));
}

// A long row arrives in parts: one rank may see half of it.
TEST(SimulateValues, PutsAreTorn) {
  const SymbolicProgram program = reshard::program("torn", [](Kernel& k) {
    const auto y = k.output("y", Dtype::i64, {4});
    const auto from = k.window("from", Dtype::i64, {4}), to = k.window("to", Dtype::i64, {4});
    k.fill(from, 9);
    k.put(to.on(k.me()), from);
    k.copy(y, to);
    k.fence();
  });
  std::set<std::vector<Index>> seen;
  SimulateOptions options{.devices = {0}};
  options.observe = [&](Index, RankId, int window, std::span<const std::byte> bytes) {
    if (window != 0) return;
    std::vector<Index> values;
    for (std::size_t at = 0; at < bytes.size(); at += 8) values.push_back(read_element(Dtype::i64, &bytes[at]));
    seen.insert(values);
  };
  for (options.seed = 0; options.seed < kSeeds; ++options.seed) simulate(program, options);
  using Values = std::vector<Index>;
  EXPECT_THAT(seen, ElementsAre(Values{0, 0, 0, 0}, Values{0, 0, 9, 9}, Values{9, 9, 0, 0}, Values{9, 9, 9, 9}));
}

// A put that leaves its window; programs from text are refused before they run.
TEST(SimulateValues, GivenProgramsAreCheckedAsTheyRun) {
  Program program{.name = "given", .ranks = 2};
  program.windows = {{"data", {8, 8}}};
  program.signals = {{"done", 1}};
  program.operations.resize(2);
  program.operations[0] = {{.code = OpCode::put, .peer = RankId(1), .blocks = {{0, 4, 8}}}};
  const SimulateReport report = simulate(SimulateInput{{program}});
  ASSERT_EQ(report.refusals.size(), 1U);
  EXPECT_EQ(report.refusals[0].text, "bytes [4, 12) leave data of rank 1, which has 8");
  program.operations[0] = {{.code = OpCode::notify, .peer = RankId(1), .signal = 0, .slot = 1}};
  EXPECT_THAT(simulate(SimulateInput{{program}}).message, HasSubstr("slot 1 of signal done on rank 1 is outside"));
  EXPECT_THAT([&] { simulate(SimulateInput{{program}}, {.devices = {0}}); },
              testing::ThrowsMessage<Error>(HasSubstr("is for 2 ranks, but 1 devices are listed")));
}

}  // namespace
}  // namespace reshard
