// The cost card says what real threads count.
#include <gmock/gmock.h>

#include "reshard/program_run.h"
#include "reshard/simulate.h"
#include "simulate_programs.h"

namespace reshard {
namespace {

Traffic traffic_of(const CostCard::Rank& cost) {
  return {.bytes_got = cost.bytes_got,
          .bytes_put = cost.bytes_put,
          .bytes_copied = cost.bytes_copied,
          .bytes_reduced = cost.bytes_reduced,
          .gets = cost.gets,
          .puts = cost.puts,
          .notifications = cost.notifications,
          .waits = cost.waits};
}

std::vector<Traffic> on_threads(const SymbolicProgram& program, Index ranks) {
  std::vector<Traffic> traffic(static_cast<std::size_t>(ranks));
  thread_ranks(ranks, [&](World& world) {
    ProgramRun run(world, program);
    run.fill_inputs();
    traffic[static_cast<std::size_t>(world.rank().value())] = run.call();
  });
  return traffic;
}

// Puts and gets of every kind, a cast, a fold and a deferred loop.
SymbolicProgram mixture() {
  return program("mixture", [](Kernel& k) {
    const auto x = k.input("x", Dtype::i32, {3, 5}), counts = k.input("counts", Dtype::i32, {1});
    const auto data = k.window("data", Dtype::i32, {3, 5}), sum = k.window("total", Dtype::i32, {5});
    const auto y = k.output("y", Dtype::i32, {5});
    const auto wide = k.local("wide", Dtype::i64, {5});
    const auto ready = k.signal("ready", {k.ranks()});
    k.init(counts, [&](auto) { return (k.me() + 2) % 4; });
    const auto meet = [&](const Expression& round) {
      k.each_rank([&](auto p) { k.notify(ready[k.me()].on(p), Add, 1); });
      k.each_rank([&](auto s) { k.wait(ready[s], Ge, 2 * k.call() - 2 + round); });
    };
    k.each(0, counts.row(0).value(), [&](auto j) { k.put(data.row(j).on(k.me()), x.row(j)); });
    k.each_rank([&](auto p) { k.accumulate(ReduceOp::sum, sum.on(p), x.row(1)); });
    k.fence();
    meet(1);
    k.get(y, sum.on((k.me() + 1) % k.ranks()));
    k.reduce(y, ReduceOp::max, {y, x.row(2)});
    k.cast(wide, y);
    k.fill(y, 3);
    meet(2);
  });
}

class SimulateTraffic : public testing::TestWithParam<Index> {};

TEST_P(SimulateTraffic, IsThatOfThreads) {
  const Index ranks = GetParam();
  for (const SymbolicProgram& program : {simulate_test::all_to_all(5), simulate_test::barrier(), mixture()}) {
    const CostCard card = cost_card(program, {.ranks = ranks});
    const std::vector<Traffic> real = on_threads(program, ranks);
    for (std::size_t r = 0; r < real.size(); ++r)
      EXPECT_EQ(traffic_of(card.ranks[r]), real[r]) << program.name << ", rank " << r;
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, SimulateTraffic, testing::Values(1, 2, 3, 7));

}  // namespace
}  // namespace reshard
