// The binary operations of expressions on numbers.
#pragma once

#include <optional>

#include "reshard/expression.h"

namespace reshard {

// Nothing where the result does not exist: past 64 bits, or a division by zero.
std::optional<Index> arithmetic(Expression::Kind kind, Index a, Index b);

// Toward minus infinity, for b != 0 and no overflow.
constexpr Index floor_divide(Index a, Index b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

}  // namespace reshard
