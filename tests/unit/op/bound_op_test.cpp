// Operators bound to tensors: as good as unbound, and the second run allocates nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "counting/allocations.h"
#include "every_operator.h"
#include "global_values.h"
#include "refusal.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(BoundOp, RunsBothWaysAgainAndAgainAndAllocatesNothing) {
  thread_ranks(4, [](World& world) {
    for (const NamedOperator& named : every_operator()) {
      const LinearOp op = named.make(layout("i64[61,7] on (x=4)"), "x", op::balanced());
      Tensor x = world.allocate(op.in()), y = world.allocate(op.out());
      Tensor gy = world.allocate(op.out_dual()), gx = world.allocate(op.in_dual());
      BoundOp bound(world, op, x, y, gy, gx);
      long allocated = 0;
      for (Index epoch = 1; epoch < 5; ++epoch) {
        fill_values(x, epoch);
        fill_values(gy, epoch + 10);
        const long before = own_allocations();
        bound.forward();
        bound.adjoint();
        allocated = own_allocations() - before;
        EXPECT_EQ(fault_of(y, op.in(), epoch), "") << op.text();
        EXPECT_EQ(fault_of(gx, op.out_dual(), epoch + 10), "") << op.text();
      }
      EXPECT_EQ(allocated, 0) << op.text();
    }
  });
}

// A reduction in two rounds: scattered at the source, then gathered.
TEST(BoundOp, RunsReductionsOfSeveralRounds) {
  const LinearOp op = op::reduce_from(layout("i64[64] on (x=4) {x: partial(sum)}"), "x");
  EXPECT_EQ(op.forward_program(4).windows.size(), 4u) << "source, target, staging, between";
  thread_ranks(4, [&](World& world) {
    Tensor x = world.allocate(op.in()), y = world.allocate(op.out());
    BoundOp bound(world, op, x, y);
    Traffic traffic;
    for (Index epoch = 1; epoch < 4; ++epoch) {
      fill_values(x, epoch);
      traffic = bound.forward();
      EXPECT_EQ(fault_of(y, op.in(), epoch), "");
    }
    EXPECT_EQ(traffic.bytes_got, 2 * 3 * 16 * 8);
    EXPECT_EQ(op.forward(world, x, y).bytes_got, 2 * 3 * 16 * 8);
    EXPECT_THAT(refusal_of([&] { bound.adjoint(); }),
                HasSubstr("reduce_from: bound without gradients; give the constructor gy and gx"));
  });
}

TEST(BoundOp, RefusesTensorsOfAnotherLayoutOnAllRanks) {
  const LinearOp op = op::copy_to(layout("i64[6] on (x=2)"), "x");
  thread_ranks(2, [&](World& world) {
    Tensor x = world.allocate(op.in()), y = world.allocate(op.out());
    Tensor gy = world.allocate(op.out_dual()), gx = world.allocate(op.in_dual());
    EXPECT_THAT(refusal_of([&] { BoundOp(world, op, y, y, gy, gx); }), HasSubstr("copy_to: the x that was given"));
    EXPECT_THAT(refusal_of([&] { BoundOp(world, op, x, y, gx, gx); }),
                AllOf(HasSubstr("copy_to: the gradient of y"), HasSubstr("goes on differently")));
    EXPECT_THAT(refusal_of([&] { BoundOp(world, op, x, y, gy, gy); }), HasSubstr("copy_to: the gradient of x"));
    const LinearOp same("identity", op.in(), op.in());
    EXPECT_THAT(refusal_of([&] { BoundOp(world, same, x, x); }), HasSubstr("tensor tensor is both source and target"));
    EXPECT_THAT(refusal_of([&] {
                  if (world.rank() == RankId(0)) BoundOp(world, op, x, y);
                  if (world.rank() == RankId(1)) BoundOp(world, op, x, y, gy, gx);
                }),
                AllOf(HasSubstr("rank 0"), HasSubstr("rank 1"), HasSubstr("bind copy_to")));
    BoundOp(world, op, x, y).forward();
  });
}

}  // namespace
}  // namespace reshard
