// What is refused is refused on every rank, before a byte moves, and the world goes on.
#include "every_fabric.h"
#include "multi/halo/expect_halo.h"

namespace reshard::multi {
namespace {

class RefusedHalo : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(RefusedHalo, {2, 3});

const Halo kOne{{{0, 1, 1, HaloEdge::zero()}}};

TEST_P(RefusedHalo, ATensorOfAnotherLayout) {
  run([](Endpoint& e) {
    World world(e, {.timeout = 120s});
    const HaloPlan plan(layout("i64[8] on (x=2) {0: x}"), kOne);
    const Tensor x = world.allocate(plan.in()), other = world.allocate(layout("i64[9] on (x=2) {0: x}"));
    Tensor wide = world.allocate(plan.out());
    expect_error(e, Code::invalid_argument, {"source", "i64[9]", "i64[8]"},
                 [&] { HaloExchange(world, plan, other, wide); });
    HaloExchange(world, plan, x, wide).run();
  });
}

TEST_P(RefusedHalo, OneRankWithAnotherHalo) {
  run([](Endpoint& e) {
    World world(e, {.timeout = 120s});
    const Layout in = layout("i64[8] on (x=2) {0: x}");
    const Tensor x = world.allocate(in);
    Tensor wide = world.allocate(HaloPlan(in, kOne).out());
    const HaloEdge edge = e.rank() == RankId(1) ? HaloEdge::periodic() : HaloEdge::zero();
    const HaloPlan mine(in, {{{0, 1, 1, edge}}});
    expect_error(e, Code::invalid_argument, {"zero", "periodic"}, [&] { HaloExchange(world, mine, x, wide); });
    HaloExchange(world, HaloPlan(in, kOne), x, wide).run();
  });
}

TEST_P(RefusedHalo, AMeshThatTheWorldDoesNotHave) {
  run([](Endpoint& e) {
    World world(e, {.timeout = 120s});
    const HaloPlan plan(layout("i64[8] on (x=2)@5 {0: x}"), kOne);
    expect_error(e, Code::invalid_argument, {"rank 6", "world has"}, [&] { plan.exchange_program(world.ranks()); });
    expect_error(e, Code::invalid_argument, {"rank 6", "world has"}, [&] { plan.reduce_program(world.ranks()); });
  });
}

}  // namespace
}  // namespace reshard::multi
