#include "program/composite/all_reduce.h"
#include "program/composite/parts.h"

namespace reshard {

// Rank r reduces part r and hands it out. Part r of any rank is read by rank r alone, and only before rank r writes it:
// no round is needed between.
void write_all_reduce_two_phase(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  const CompositeOperand target = w.arguments.operand("target", OperandUse::reached_by_peers);
  const ReduceOp op = w.arguments.op(target);
  const RankParts parts(w, target);
  const BufferRef terms = w.scratch("terms", target.dtype(), {w.ranks(), parts.greatest()});
  const Expression first = w.let("first", parts.first(w.me()));
  const Expression past = w.let("past", parts.past(w.me()));
  const CompositeOperand own = parts.elements().rows(first, past);
  w.round("the terms are there");
  w.phase("reduce the own part");
  w.kernel.each_rank([&](const Expression& s) { w.kernel.get(terms.row(s).rows(0, past - first), own.on(s)); }, "s");
  w.kernel.reduce(own, op, {terms.at(All{}, Range{0, past - first})});
  w.phase("hand it out");
  w.kernel.each_peer([&](const Expression& p) { w.kernel.put(own.on(p), own); });
  w.kernel.fence();
  w.round("all has come");
  w.finish();
}

}  // namespace reshard
