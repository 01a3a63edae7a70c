// Sums and products that leave out what changes nothing, so that lowered text reads as if written by hand.
#pragma once

#include <string_view>
#include <vector>

#include "reshard/expression.h"

namespace reshard {

inline Expression plus(const Expression& a, const Expression& b) {
  if (a.is_constant(0)) return b;
  return b.is_constant(0) ? a : a + b;
}

inline Expression less(const Expression& a, const Expression& b) { return b.is_constant(0) ? a : a - b; }

inline Expression times(const Expression& a, const Expression& b) {
  if (a.is_constant(0) || b.is_constant(0)) return 0;
  if (a.is_constant(1)) return b;
  return b.is_constant(1) ? a : a * b;
}

inline Expression elements_in(const std::vector<Expression>& shape) {
  Expression elements = 1;
  for (const Expression& extent : shape) elements = times(elements, extent);
  return elements;
}

// Whether `expression` uses the variable `name`.
inline bool depends_on(const Expression& expression, std::string_view name) {
  if (expression.kind() == Expression::Kind::variable) return expression.name() == name;
  for (const Expression& operand : expression.operands())
    if (depends_on(operand, name)) return true;
  return false;
}

}  // namespace reshard
