#include "program/composite/table.h"

namespace reshard {

void write_all_gather(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  const CompositeOperand input = w.arguments.operand("input", OperandUse::read);
  const CompositeOperand target = w.turn(w.arguments.operand("target", OperandUse::reached_by_peers));
  std::vector<Expression> gathered = input.shape();
  gathered.insert(gathered.begin(), w.ranks());
  w.arguments.require_same_dtype(input, target);
  w.arguments.require_shape(target, gathered, "a row for each rank");
  w.second_round("windows are free");
  w.phase("push");
  w.kernel.each_rank([&](const Expression& d) { w.kernel.put(target.row(w.me()).on(d), input); }, "d");
  w.kernel.fence();
  w.round("all has come");
  w.finish();
}

}  // namespace reshard
