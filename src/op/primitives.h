// The operators of primitives.h under any name: that of an axis, or of the polar and azimuth twins.
#pragma once

#include <string>
#include <string_view>

#include "reshard/primitives.h"

namespace reshard::op::named {

LinearOp copy(std::string name, const Layout& in, std::string_view axis);
LinearOp reduce(std::string name, const Layout& in, std::string_view axis);
LinearOp reduce_all(std::string name, const Layout& in, std::string_view axis);
LinearOp scatter(std::string name, const Layout& in, std::string_view axis, int dim, const Split& split);
LinearOp gather(std::string name, const Layout& in, std::string_view axis, int dim);
LinearOp gather_copy(std::string name, const Layout& in, std::string_view axis, int dim);
LinearOp reduce_scatter(std::string name, const Layout& in, std::string_view axis, int dim, const Split& split);
LinearOp turn(std::string name, const Layout& in, std::string_view axis, int to, int from, const Split& split);

}  // namespace reshard::op::named
