// From the second exchange on nothing is allocated, by either scheme, in halves or whole, nor by the reduce.
#include <gtest/gtest.h>

#include "counting/allocations.h"
#include "reshard/halo.h"

namespace reshard {
namespace {

TEST(HaloAllocations, ExchangesAndReducesMakeNone) {
  thread_ranks(4, [](World& world) {
    const Layout in = layout("f32[12,8] on (y=2, x=2) {0: y, 1: x}");
    const Halo halo{{{0, 2, 1, HaloEdge::pole(1, true)}, {1, 1, 1, HaloEdge::periodic()}}};
    for (const HaloScheme scheme : {HaloScheme::direct, HaloScheme::two_phase}) {
      const LinearOp op = op::widen(in, halo, scheme);
      Tensor x = world.allocate(op.in()), y = world.allocate(op.out());
      Tensor gy = world.allocate(op.out_dual()), gx = world.allocate(op.in_dual());
      HaloExchange apart(world, HaloPlan(in, halo, scheme), x, y), in_place(world, HaloPlan(in, halo, scheme), y);
      BoundOp bound(world, op, x, y, gy, gx);
      long allocated = 0;
      for (int epoch = 0; epoch < 3; ++epoch) {
        const long before = own_allocations();
        apart.begin();
        apart.end();
        in_place.run();
        bound.forward();
        bound.adjoint();
        allocated = own_allocations() - before;
      }
      EXPECT_EQ(allocated, 0) << op.text();
    }
  });
}

}  // namespace
}  // namespace reshard
