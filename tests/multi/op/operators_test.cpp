// Every operator on every fabric: values against the whole tensor, the adjoint, and a mistake of one rank.
#include "every_fabric.h"
#include "reshard/check_adjoint.h"
#include "unit/op/every_operator.h"
#include "unit/op/global_values.h"

namespace reshard::multi {
namespace {

class Operators : public EveryFabric {};

void expect_right(World& world, const LinearOp& op, Index epoch) {
  Tensor x = world.allocate(op.in()), gy = world.allocate(op.out_dual());
  fill_values(x, epoch);
  fill_values(gy, epoch + 1);
  const std::string fault = fault_of(op.forward(world, x), op.in(), epoch) +
                            fault_of(op.adjoint(world, gy), op.out_dual(), epoch + 1) + fault_of(x, op.in(), epoch);
  if (!fault.empty()) report(world.endpoint(), op.text() + ": " + fault);
}

TEST_P(Operators, GiveEachRankItsPart) {
  run_worlds(fabric(), ranks(), [ranks = ranks()](World& world) {
    Index epoch = 0;
    for (const Index n : {2 * ranks, 2 * ranks - 1, Index{2}})
      for (const NamedOperator& named : every_operator()) {
        const LinearOp op = named.make(layout(fmt::format("i64[{},3] on (x={})", n, ranks)), "x", op::balanced());
        expect_right(world, op, ++epoch);
        check_adjoint(world, op, {.seed = static_cast<std::uint64_t>(epoch)});
      }
  });
}

TEST_P(Operators, BoundToTensorsRunAgain) {
  run_worlds(fabric(), ranks(), [ranks = ranks()](World& world) {
    for (const NamedOperator& named : every_operator()) {
      const LinearOp op =
          named.make(layout(fmt::format("i64[{},3] on (x={})", 3 * ranks + 1, ranks)), "x", op::balanced());
      Tensor x = world.allocate(op.in()), y = world.allocate(op.out());
      Tensor gy = world.allocate(op.out_dual()), gx = world.allocate(op.in_dual());
      BoundOp bound(world, op, x, y, gy, gx);
      for (Index epoch = 1; epoch < 4; ++epoch) {
        fill_values(x, epoch);
        fill_values(gy, epoch + 1);
        bound.forward();
        bound.adjoint();
        const std::string fault = fault_of(y, op.in(), epoch) + fault_of(gx, op.out_dual(), epoch + 1);
        if (!fault.empty()) report(world.endpoint(), op.text() + ": " + fault);
      }
    }
  });
}

TEST_P(Operators, AMistakeOfOneRankIsToldToAll) {
  run_worlds(fabric(), ranks(), [ranks = ranks()](World& world) {
    const LinearOp op = op::copy_to(layout(fmt::format("i64[4] on (x={})", ranks)), "x");
    Tensor x = world.allocate(op.in()), y = world.allocate(op.out());
    const auto wrong = [&] { op.forward(world, world.rank() == RankId(ranks - 1) ? y : x, y); };
    expect_error(world.endpoint(), Code::invalid_argument, {"copy_to: the x that was given"}, wrong);
    fill_values(x, 1);
    op.forward(world, x, y);
    const std::string fault = fault_of(y, op.in(), 1);
    if (!fault.empty()) report(world.endpoint(), fault);
  });
}

RESHARD_ON_EVERY_FABRIC(Operators, {1, 2, 3, 5});

}  // namespace
}  // namespace reshard::multi
