// Whether tensors are what an operator takes: said before a byte moves.
#pragma once

#include <string_view>

#include "reshard/op.h"

namespace reshard::op {

// `what` is "x" or "y". Throws Error(invalid_argument) that names operator, axis, both layouts and the way out.
void check_value(const LinearOp& op, std::string_view what, const Tensor& tensor, const Layout& expected);
// The same for a gradient of x or y.
void check_gradient(const LinearOp& op, std::string_view what, const Tensor& tensor, const Layout& expected);

}  // namespace reshard::op
