#include "program/composite/count_matrix.h"
#include "program/composite/simplify.h"
#include "program/composite/table.h"

namespace reshard {

// Counts are read after the first round and before the second: later they may be those of the next call.
void write_all_to_all_v(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  const CompositeOperand input = w.arguments.operand("input", OperandUse::read);
  const CompositeOperand target = w.arguments.operand("target", OperandUse::reached_by_peers);
  const CompositeOperand send = w.arguments.operand("send_counts", OperandUse::reached_by_peers);
  const CompositeOperand receive = w.arguments.operand("recv_counts", OperandUse::write);
  w.arguments.require_same_dtype(input, target);
  w.arguments.require_shape(input, target.shape(), "M rows for each destination, as target for each source,");
  w.arguments.require_integers(send);
  w.arguments.require_same_dtype(send, receive);
  for (const CompositeOperand& counts : {send, receive})
    w.arguments.require_shape(counts, {w.ranks()}, "a count for each rank");
  const Expression most = rows_per_rank(w, target);
  w.round("counts are there, windows are free");
  w.phase("judge the counts of all");
  const BufferRef counts = gather_rows(w, "all_counts", send);
  const Verdict verdict(w, {{counts, counts, most, "count", fmt::format("exceeds capacity M = {{{}}}", most.text())}},
                        send.dtype());
  w.phase("push");
  w.kernel.when(verdict.holds(), [&] {
    w.kernel.each_rank(
        [&](const Expression& d) {
          const Expression count = counts.row(w.me()).row(d).value();
          const Expression to = times(w.me(), most), from = times(d, most);
          w.kernel.put(target.rows(to, to + count).on(d), input.rows(from, from + count));
        },
        "d");
    w.kernel.copy(receive, counts.at(All{}, w.me()));
    w.kernel.fence();
  });
  w.round("all has come, counts are read");
  w.finish();
  verdict.require_it();
}

}  // namespace reshard
