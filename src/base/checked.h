// Checked arithmetic on extents and byte counts: overflow is an error of the caller's input, never a wrapped value.
#pragma once

#include <span>
#include <string_view>

#include "reshard/index.h"

namespace reshard {

// `what` names the quantity in the error ("elements of tensor", ...). Throws Error(invalid_argument) past 2^63-1.
Index checked_mul(Index a, Index b, std::string_view what);
Index checked_add(Index a, Index b, std::string_view what);
// Product of extents; 1 for none.
Index checked_product(std::span<const Index> extents, std::string_view what);

// ceil(a / b) for a >= 0, b > 0, without overflow.
constexpr Index ceil_div(Index a, Index b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace reshard
