// The four kinds of a value along a mesh axis, and the moves between them that are linear maps with an adjoint.
#pragma once

#include <string>
#include <string_view>

#include "reshard/layout.h"

namespace reshard::op {

// held: each element at one coordinate, cut or at(c).
enum class ValueKind { invariant, varying, pending, held };

ValueKind kind_of(const AxisKind& kind);
// "varying", "partial(sum)", "cut", "at(2)".
std::string text_of(const AxisKind& kind);
// The operator whose edge this is: "gather_from"; empty where there is none.
std::string_view name_of_edge(ValueKind from, ValueKind to);

// Throws as the constructor of LinearOp says.
void check_edges(std::string_view name, const Layout& in, const Layout& out);
// Where `given` is not `expected`: in words, where the kinds of one axis differ, and what was probably meant. `from`
// and `to` are the ends of the operator, and `given` is a value at the one end or a gradient at the other. Empty if
// there is nothing more to say.
std::string kind_hint(const Layout& expected, const Layout& given, bool is_gradient, const Layout& from,
                      const Layout& to);

}  // namespace reshard::op
