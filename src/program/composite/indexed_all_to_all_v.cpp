#include "program/composite/count_matrix.h"
#include "program/composite/simplify.h"
#include "program/composite/table.h"

namespace reshard {
namespace {

struct IndexedOperands {
  CompositeOperand input;    // [Nmax, H..]
  CompositeOperand target;   // [P * C, H..]
  CompositeOperand send;     // [P]
  CompositeOperand receive;  // [P]
  CompositeOperand index;    // [P, C]
  Expression rows;           // Nmax
  Expression capacity;       // C
  Expression workers;        // B
};

void require_lanes(const CompositeArguments& arguments, const Expression& ranks, const Expression& workers) {
  if (workers.is_constant() && workers.value() < 1)
    arguments.refuse("workers = {}; it takes at least 1", workers.value());
  if (depends_on(workers, "me")) arguments.refuse("workers = {} differs from rank to rank", workers.text());
  const std::vector<Expression>& shape = arguments.signal().shape;
  if (shape.size() == 1 && workers.is_constant(1)) return arguments.require_signal_shape({ranks});
  const Expression lanes = shape.size() == 2 ? max(shape[1], workers) : workers;
  arguments.require_signal_shape({ranks, lanes});
}

IndexedOperands operands_of(CompositeWriter& w) {
  CompositeArguments& arguments = w.arguments;
  IndexedOperands o{arguments.operand("input", OperandUse::read),
                    arguments.operand("target", OperandUse::reached_by_peers),
                    arguments.operand("send_counts", OperandUse::reached_by_peers),
                    arguments.operand("recv_counts", OperandUse::write),
                    arguments.operand("index", OperandUse::read),
                    0,
                    0,
                    arguments.has("workers") ? arguments.number("workers") : 1};
  require_lanes(arguments, w.ranks(), o.workers);
  arguments.require_same_dtype(o.input, o.target);
  for (const CompositeOperand& integers : {o.send, o.index}) arguments.require_integers(integers);
  for (const CompositeOperand& integers : {o.receive, o.index}) arguments.require_same_dtype(o.send, integers);
  for (const CompositeOperand& counts : {o.send, o.receive})
    arguments.require_shape(counts, {w.ranks()}, "a count for each rank");
  if (o.index.shape().size() != 2)
    arguments.refuse("argument index: {} needs the shape [P, C]: the rows for each destination", o.index.text());
  arguments.require_rows(o.index, w.ranks(), "a list for each destination");
  arguments.require_rows(o.input, o.input.shape().empty() ? 0 : o.input.shape()[0], "rows to choose from");
  o.rows = o.input.shape()[0];
  o.capacity = o.index.shape()[1];
  std::vector<Expression> received = o.input.shape();
  received[0] = times(w.ranks(), o.capacity);
  arguments.require_shape(o.target, received, "C rows from each source");
  return o;
}

// The least and the greatest index for each destination, where peers can read them; [0, -1] where there is none. Of a
// count that is wrong itself only what lies in the list is looked at.
BufferRef write_index_range(CompositeWriter& w, const IndexedOperands& o) {
  const BufferRef range = w.scratch_window("index_range", o.index.dtype(), {2, w.ranks()});
  w.kernel.each_rank(
      [&](const Expression& d) {
        const Expression valid = max(min(o.send.element({d}), o.capacity), 0);
        const SliceRef least = range.at(0, d), greatest = range.at(1, d);
        w.kernel.fill(least, 0);
        w.kernel.fill(greatest, -1);
        w.kernel.reduce(least, ReduceOp::min, {least, o.index.row(d).rows(0, valid)});
        w.kernel.reduce(greatest, ReduceOp::max, {greatest, o.index.row(d).rows(0, valid)});
      },
      "d");
  return range;
}

BufferRef gather_index_ranges(CompositeWriter& w, const BufferRef& range, Dtype dtype) {
  const BufferRef ranges = w.scratch("index_ranges", dtype, {2, w.ranks(), w.ranks()});
  w.kernel.each_rank(
      [&](const Expression& s) {
        for (const Index end : {0, 1}) w.kernel.get(ranges.row(end).row(s), range.row(end).on(s));
      },
      "s");
  return ranges;
}

// What one worker does: rows for destinations b, b + B, .., then its share of the rows that stay.
class IndexedPush {
 public:
  IndexedPush(CompositeWriter& w, const IndexedOperands& o, const BufferRef& counts) : w_(w), o_(o), counts_(counts) {}

  void write() {
    if (o_.workers.is_constant(1)) {
      w_.kernel.each_peer([&](const Expression& d) { rows_for(d); }, "d");
      own_rows(0, count(w_.me()));
    } else {
      w_.kernel.each(
          0, o_.workers, [&](const Expression& b) { worker(b); }, "b");
    }
  }

 private:
  Expression count(const Expression& d) const { return counts_.row(w_.me()).row(d).value(); }

  void worker(const Expression& b) {
    w_.kernel.each(
        0, ceil_divide(w_.ranks() - b, o_.workers),
        [&](const Expression& turn) {
          const Expression d = w_.let("to", b + turn * o_.workers);
          w_.kernel.when(differs(d, w_.me()), [&] { rows_for(d); });
        },
        "turn");
    const Expression own = count(w_.me());
    own_rows(own * b / o_.workers, own * (b + 1) / o_.workers);
  }

  Expression place(const Expression& j) const { return plus(times(w_.me(), o_.capacity), j); }

  void rows_for(const Expression& d) {
    w_.kernel.each(
        0, count(d),
        [&](const Expression& j) {
          w_.kernel.put(o_.target.row(place(j)).on(d), o_.input.row(o_.index.element({d, j})));
        },
        "j");
  }

  void own_rows(const Expression& from, const Expression& to) {
    w_.kernel.each(
        from, to,
        [&](const Expression& j) {
          w_.kernel.copy(o_.target.row(place(j)), o_.input.row(o_.index.element({w_.me(), j})));
        },
        "j");
  }

  CompositeWriter& w_;
  const IndexedOperands& o_;
  const BufferRef& counts_;
};

}  // namespace

// Rows go from the input to their place in the target, with no buffer between.
void write_indexed_all_to_all_v(CompositeWriter& w) {
  const IndexedOperands o = operands_of(w);
  w.phase("look at the own indices");
  const BufferRef range = write_index_range(w, o);
  w.round("counts are there, windows are free");
  w.phase("judge the counts and indices of all");
  const BufferRef counts = gather_rows(w, "all_counts", o.send);
  const BufferRef ranges = gather_index_ranges(w, range, o.index.dtype());
  const Verdict verdict(
      w,
      {{counts, counts, o.capacity, "count", fmt::format("exceeds capacity C = {{{}}}", o.capacity.text())},
       {ranges.row(0), ranges.row(1), o.rows - 1, "index",
        fmt::format("is not below the {{{}}} rows of input", o.rows.text())}},
      o.send.dtype());
  w.phase("push");
  w.kernel.when(verdict.holds(), [&] {
    IndexedPush(w, o, counts).write();
    w.kernel.copy(o.receive, counts.at(All{}, w.me()));
    w.kernel.fence();
  });
  w.round("all has come, counts are read");
  w.finish();
  verdict.require_it();
}

}  // namespace reshard
