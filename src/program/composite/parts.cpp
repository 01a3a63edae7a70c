#include "program/composite/parts.h"

#include "program/composite/simplify.h"

namespace reshard {
namespace {

CompositeOperand flattened(CompositeWriter& w, const CompositeOperand& operand) {
  const std::vector<Expression> shape = operand.shape();
  if (shape.size() == 1) return operand;
  if (!operand.is_whole())
    w.arguments.refuse("argument {}: {} is cut by elements, so it must be one row or a whole buffer",
                       operand.argument(), operand.text());
  const BufferRef view = w.flat_view(operand.buffer() + "_elements", operand);
  return CompositeOperand(operand.argument(), view.slice(), operand.dtype(), {elements_in(shape)});
}

}  // namespace

RankParts::RankParts(CompositeWriter& w, const CompositeOperand& operand)
    : flat_(flattened(w, operand)), count_(flat_.shape().front()), greatest_(ceil_divide(count_, w.ranks())) {}

Expression RankParts::first(const Expression& part) const { return min(times(part, greatest_), count_); }

Expression RankParts::past(const Expression& part) const { return min(times(part + 1, greatest_), count_); }

}  // namespace reshard
