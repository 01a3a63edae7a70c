// Reads expressions.
#pragma once

#include <vector>

#include "program/symbolic/parse_state.h"

namespace reshard {

// What may be said where an expression stands.
struct ExpressionPlace {
  std::string_view name;  // in errors
  bool call = false;      // the number of the call
  bool elements = false;  // of the rank's own memory
  bool of_peers = false;  // elements of any rank, and folds over them
};
inline constexpr ExpressionPlace kShapePlace{"a shape"};
inline constexpr ExpressionPlace kStartsPlace{"`starts`"};
inline constexpr ExpressionPlace kInitPlace{"`init`", true};
inline constexpr ExpressionPlace kExpectPlace{"`expect`", true, true, true};
inline constexpr ExpressionPlace kBodyPlace{"a statement", true, true};

Expression parse_expression(ParseState& state, const ExpressionPlace& place);
// A number, a name, an element, a call or what is in parentheses: what may follow `@`.
Expression parse_primary(ParseState& state, const ExpressionPlace& place);
// "a, b]" behind the bracket.
std::vector<Expression> parse_indices(ParseState& state, const ExpressionPlace& place);

}  // namespace reshard
