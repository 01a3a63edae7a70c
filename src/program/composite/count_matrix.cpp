#include "program/composite/count_matrix.h"

#include "program/composite/simplify.h"

namespace reshard {
namespace {

// The least or the greatest of a [P, P] matrix, first over ranks, then over destinations.
Expression extreme(CompositeWriter& w, const std::string& name, ReduceOp op, const SliceRef& matrix, Dtype dtype) {
  const BufferRef row = w.scratch(name + "_by_rank", dtype, {w.ranks()});
  const BufferRef one = w.scratch(name, dtype, {1});
  w.kernel.reduce(row, op, {matrix});
  w.kernel.reduce(one.row(0), op, {row});
  return one.row(0).value();
}

}  // namespace

BufferRef gather_rows(CompositeWriter& w, const std::string& name, const CompositeOperand& send) {
  std::vector<Expression> shape = send.shape();
  shape.insert(shape.begin(), w.ranks());
  const BufferRef rows = w.scratch(name, send.dtype(), shape);
  w.kernel.each_rank([&](const Expression& s) { w.kernel.get(rows.row(s), send.on(s)); }, "s");
  return rows;
}

Verdict::Verdict(CompositeWriter& w, std::vector<JudgedNumbers> judged, Dtype dtype)
    : w_(w), judged_(std::move(judged)) {
  for (const JudgedNumbers& numbers : judged_) {
    const Expression least = extreme(w, "least_" + numbers.what, ReduceOp::min, numbers.least, dtype);
    const Expression greatest = extreme(w, "greatest_" + numbers.what, ReduceOp::max, numbers.greatest, dtype);
    const Expression within = least >= 0 && greatest <= numbers.most;
    holds_ = holds_.is_constant(1) ? within : holds_ && within;
  }
}

void Verdict::require_it() const {
  w_.phase("refuse on all ranks alike");
  w_.kernel.when(!holds_, [&] {
    w_.kernel.each_rank(
        [&](const Expression& s) {
          w_.kernel.each_rank(
              [&](const Expression& d) {
                for (const JudgedNumbers& numbers : judged_) {
                  const Expression least = numbers.least.row(s).row(d).value();
                  const Expression greatest = numbers.greatest.row(s).row(d).value();
                  const std::string pair = fmt::format("from rank {{{}}} to rank {{{}}}", s.text(), d.text());
                  w_.kernel.require(least >= 0,
                                    fmt::format("{} {{{}}} {} is negative", numbers.what, least.text(), pair));
                  w_.kernel.require(greatest <= numbers.most, fmt::format("{} {{{}}} {} {}", numbers.what,
                                                                          greatest.text(), pair, numbers.too_much));
                }
              },
              "d");
        },
        "s");
  });
}

Expression rows_per_rank(CompositeWriter& w, const CompositeOperand& operand) {
  const std::vector<Expression> shape = operand.shape();
  if (shape.empty()) w.arguments.refuse("argument {}: {} has no rows", operand.argument(), operand.text());
  w.arguments.require_rows(operand, shape.front() / w.ranks() * w.ranks(), "as many rows for each rank");
  const auto factors = shape.front().operands();
  if (shape.front().kind() == Expression::Kind::multiply && factors[0] == w.ranks()) return factors[1];
  if (shape.front().kind() == Expression::Kind::multiply && factors[1] == w.ranks()) return factors[0];
  return shape.front() / w.ranks();
}

}  // namespace reshard
