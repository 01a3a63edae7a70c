#include "program/composite/all_reduce.h"

namespace reshard {

// Every rank reads all others. In place, nobody may write before all have read.
void write_all_reduce_mesh(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  const CompositeOperand target = w.turn(w.arguments.operand("target", OperandUse::reached_by_peers));
  const ReduceOp op = w.arguments.op(target);
  const CompositeOperand result = w.result(target);
  if (!w.has_two_rounds() && !w.arguments.has("output"))
    w.arguments.refuse("in place it takes two rounds, and {} has one; give an output, or use epoch or credits-2",
                       name_of(w.rounds.protocol()));
  std::vector<Expression> shape = target.shape();
  shape.insert(shape.begin(), w.ranks());
  const BufferRef terms = w.scratch("terms", target.dtype(), shape);
  w.round("the terms are there");
  w.phase("read all terms");
  w.kernel.each_rank([&](const Expression& s) { w.kernel.get(terms.row(s), target.on(s)); }, "s");
  w.second_round("all have read");
  w.phase("reduce");
  w.kernel.reduce(result, op, {terms});
  w.finish();
}

}  // namespace reshard
