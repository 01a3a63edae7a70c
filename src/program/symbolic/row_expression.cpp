#include "program/symbolic/row_expression.h"

#include <array>
#include <limits>

#include "program/symbolic/arithmetic.h"
#include "program/symbolic/quote.h"

namespace reshard {

using Kind = Expression::Kind;

std::optional<RowExpression> RowExpression::of(const Expression& expression, const PlacedProgram& program, RankId me,
                                               const Scope& scope, std::string_view variable) {
  Scope others = scope;
  others.erase(variable);
  RowExpression made;
  if (!made.add(with_numbers(expression, others), program, me, variable, 0)) return std::nullopt;
  return made;
}

bool RowExpression::add(const Expression& e, const PlacedProgram& program, RankId me, std::string_view variable,
                        std::size_t depth) {
  const bool is_element = e.kind() == Kind::element;
  const bool is_binary = e.operands().size() == 2 && e.kind() >= Kind::add && e.kind() <= Kind::logical_or;
  const bool is_known = e.kind() == Kind::constant || e.kind() == Kind::negate || is_element || is_binary ||
                        (e.kind() == Kind::variable && e.name() == variable);
  if (!is_known || depth + e.operands().size() >= kDeepest) return false;
  for (std::size_t i = 0; i < e.operands().size(); ++i)
    if (!add(e.operands()[i], program, me, variable, depth + i)) return false;
  Step step{e.kind(), e.value()};
  if (is_element) {
    const PlacedBuffer& buffer = program.buffer(e.name(), me);
    if (buffer.shape.size() != e.operands().size()) return false;
    step.value = static_cast<Index>(places_.size());
    places_.push_back({buffer.window, buffer.offset, buffer.dtype, buffer.shape});
  }
  steps_.push_back(step);
  return true;
}

std::optional<Index> RowExpression::element(const ElementPlace& place, const Index* indices,
                                            MemoryReader& memory) const {
  Index number = 0;
  for (std::size_t d = 0; d < place.shape.size(); ++d) {
    if (indices[d] < 0 || indices[d] >= place.shape[d]) return std::nullopt;
    number = number * place.shape[d] + indices[d];
  }
  return memory.integer(place.window, place.offset + number * bytes_of(place.dtype), place.dtype);
}

std::optional<Index> RowExpression::value(Index variable, MemoryReader& memory) const {
  std::array<Index, kDeepest + 1> stack;
  std::size_t top = 0;
  for (const Step& step : steps_) {
    std::optional<Index> result;
    if (step.kind == Kind::constant) {
      result = step.value;
    } else if (step.kind == Kind::variable) {
      result = variable;
    } else if (step.kind == Kind::negate) {
      if (stack[--top] != std::numeric_limits<Index>::min()) result = -stack[top];
    } else if (step.kind == Kind::element) {
      const ElementPlace& place = places_[static_cast<std::size_t>(step.value)];
      top -= place.shape.size();
      result = element(place, stack.data() + top, memory);
    } else {
      top -= 2;
      result = arithmetic(step.kind, stack[top], stack[top + 1]);
    }
    if (!result) return std::nullopt;
    stack[top++] = *result;
  }
  return stack[0];
}

}  // namespace reshard
