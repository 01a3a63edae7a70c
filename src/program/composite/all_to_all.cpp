#include "program/composite/table.h"

namespace reshard {

void write_all_to_all(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  const CompositeOperand input = w.arguments.operand("input", OperandUse::read);
  const CompositeOperand target = w.turn(w.arguments.operand("target", OperandUse::reached_by_peers));
  w.arguments.require_same_dtype(input, target);
  w.arguments.require_rows(input, w.ranks(), "a row for each destination");
  w.arguments.require_shape(target, input.shape(), "a row from each source");
  w.second_round("windows are free");
  w.phase("push");
  w.kernel.each_rank([&](const Expression& d) { w.kernel.put(target.row(w.me()).on(d), input.row(d)); }, "d");
  w.kernel.fence();
  w.round("all has come");
  w.finish();
}

}  // namespace reshard
