#include "program/composite/table.h"

namespace reshard {

// Row me of a rank is read by that rank alone, so the result may lie there before others are done.
void write_reduce_scatter(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  const CompositeOperand target = w.turn(w.arguments.operand("target", OperandUse::reached_by_peers));
  w.arguments.require_rows(target, w.ranks(), "a row for each rank");
  const CompositeOperand result = w.result(target.row(w.me()));
  const ReduceOp op = w.arguments.op(target);
  const BufferRef terms = w.scratch("terms", target.dtype(), target.shape());
  w.round("the terms are there");
  w.phase("read the terms of the own row");
  w.kernel.each_rank([&](const Expression& s) { w.kernel.get(terms.row(s), target.row(w.me()).on(s)); }, "s");
  w.kernel.reduce(result, op, {terms});
  w.second_round("all have read");
  w.finish();
}

}  // namespace reshard
