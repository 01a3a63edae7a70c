// Programs that move data, as written by hand, call after call.
#include "program/every_world.h"
#include "program/exchanges.h"
#include "program/slow_endpoint.h"

namespace reshard::multi {
namespace {

class ProgramExchange : public EveryWorld {};
RESHARD_ON_EVERY_FABRIC(ProgramExchange, {1, 2, 3, 4, 7, 8});

void expect_program(World& world, const SymbolicProgram& program, const std::map<std::string, Index>& sizes = {}) {
  ProgramRun run(world, program, sizes);
  expect_calls(run);
}

TEST_P(ProgramExchange, AllToAllInEveryProtocol) {
  run_worlds([](World& world) {
    for (const Index n : {1, 3, 17}) {
      expect_program(world, all_to_all_by_credits(), {{"n", n}});
      expect_program(world, all_to_all_by_epochs(), {{"n", n}});
      expect_program(world, all_to_all_by_parity(), {{"n", n}});
    }
  });
}

TEST_P(ProgramExchange, RingShift) {
  run_worlds([](World& world) { expect_program(world, ring_shift(), {{"n", 13}}); });
}

TEST_P(ProgramExchange, ValuesAreCastOnTheirWay) {
  run_worlds([](World& world) {
    for (const Dtype narrow : {Dtype::bf16, Dtype::f16, Dtype::i8, Dtype::f64})
      expect_program(world, ring_shift_through(narrow), {{"n", 11}});
  });
}

TEST_P(ProgramExchange, BroadcastByGet) {
  run_worlds([](World& world) { expect_program(world, broadcast_by_get(), {{"n", 11}}); });
}

TEST_P(ProgramExchange, AccumulateSumsExactly) {
  run_worlds([](World& world) {
    for (const Dtype dtype : {Dtype::i32, Dtype::u8, Dtype::bf16, Dtype::f64, Dtype::complex64})
      expect_program(world, sum_by_accumulate(dtype), {{"n", 9}});
  });
}

TEST_P(ProgramExchange, RowsByCountsAndIndicesInMemory) {
  run_worlds([](World& world) {
    ProgramRun run(world, indexed_rows());
    run.fill_inputs();
    run.call();
    run.check_outputs();
    // Behind the counts of the first call: what was there before.
    const auto y = run.span<float>("y");
    for (Index s = 0; s < world.ranks(); ++s) {
      const Index count = (s * 2 + world.rank().value() + 1) % 5;
      for (Index i = count * 3; i < 12; ++i)
        expect_equal(world.endpoint(), "tail", y[static_cast<std::size_t>(s * 12 + i)], -1);
    }
    expect_calls(run);
  });
}

TEST_P(ProgramExchange, OneRankIsSlow) {
  for (const Index slow : {Index{0}, ranks() - 1}) {
    run([slow](Endpoint& inner) {
      SlowEndpoint hindered(inner);
      World world(inner.rank() == RankId(slow) ? static_cast<Endpoint&>(hindered) : inner, {.timeout = 120s});
      expect_program(world, all_to_all_by_credits());
      expect_program(world, all_to_all_by_epochs());
      expect_program(world, all_to_all_by_parity());
      expect_program(world, ring_shift());
      expect_program(world, broadcast_by_get());
    });
  }
}

// A 16-bit sequence number would be used up.
TEST_P(ProgramExchange, SixtyFiveThousandCallsOnOneSignal) {
  if (!traits().is_threads || ranks() > 2) return;
  run_worlds([](World& world) {
    ProgramRun run(world, barrier_alone());
    for (Index call = 0; call < 65'537; ++call) run.call();
    expect_equal(world.endpoint(), "calls", run.calls(), 65'537);
  });
}

}  // namespace
}  // namespace reshard::multi
