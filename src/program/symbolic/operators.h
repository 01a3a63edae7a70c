// The binary operators of expressions, for the printer and the parser.
#pragma once

#include <string_view>

#include "reshard/expression.h"

namespace reshard {

// How tightly an operator binds; operands on its right bind tighter.
struct BinaryOperator {
  Expression::Kind kind;
  std::string_view sign;
  int level;
};
// Comparisons do not chain.
inline constexpr int kComparisonLevel = 3;
inline constexpr BinaryOperator kBinaryOperators[] = {
    {Expression::Kind::logical_or, "||", 1},
    {Expression::Kind::logical_and, "&&", 2},
    {Expression::Kind::equal, "==", kComparisonLevel},
    {Expression::Kind::not_equal, "!=", kComparisonLevel},
    {Expression::Kind::less, "<", kComparisonLevel},
    {Expression::Kind::less_equal, "<=", kComparisonLevel},
    {Expression::Kind::greater, ">", kComparisonLevel},
    {Expression::Kind::greater_equal, ">=", kComparisonLevel},
    {Expression::Kind::add, "+", 4},
    {Expression::Kind::subtract, "-", 4},
    {Expression::Kind::multiply, "*", 5},
    {Expression::Kind::divide, "/", 5},
    {Expression::Kind::modulo, "%", 5},
};

}  // namespace reshard
