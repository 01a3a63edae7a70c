#include "program/composite/table.h"

namespace reshard {

// Everybody but the root reads the root's part, so that each byte leaves the root's memory for its final place.
void write_broadcast(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  const CompositeOperand target = w.turn(w.arguments.operand("target", OperandUse::reached_by_peers));
  const Expression root = w.arguments.rank("root");
  w.round("the root's part is there");
  w.phase("read");
  w.kernel.when(differs(w.me(), root), [&] { w.kernel.get(target, target.on(root)); });
  w.second_round("all have read");
  w.finish();
}

}  // namespace reshard
