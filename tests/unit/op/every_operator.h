// Every operator of one axis, for a tensor of two dimensions: the other axes of its mesh stay as they are.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reshard/primitives.h"

namespace reshard {

// Of which nothing is known along the axis: the operator says what it takes.
struct NamedOperator {
  std::string name;
  // From a layout that is invariant along the axis.
  std::function<LinearOp(const Layout& plain, std::string_view axis, const op::Split& split)> make;
};

inline Layout with_axis(const Layout& plain, std::string_view axis, const AxisKind& kind) {
  LayoutSpec spec = plain.spec();
  spec.kinds[static_cast<std::size_t>(plain.mesh().find(axis)->first)] = kind;
  return Layout(std::move(spec));
}

inline Layout pending_along(const Layout& plain, std::string_view axis) {
  return with_axis(plain, axis, {AxisKind::Kind::partial, ReduceOp::sum, 0});
}

inline Layout cut_along(const Layout& plain, std::string_view axis, int dim, const op::Split& split) {
  return op::scatter_to(plain, axis, dim, split).out();
}

inline const std::vector<NamedOperator>& every_operator() {
  using Axis = std::string_view;
  static const std::vector<NamedOperator> all{
      {"copy_to", [](const Layout& l, Axis a, const op::Split&) { return op::copy_to(l, a); }},
      {"reduce_from",
       [](const Layout& l, Axis a, const op::Split&) { return op::reduce_from(pending_along(l, a), a); }},
      {"all_reduce", [](const Layout& l, Axis a, const op::Split&) { return op::all_reduce(pending_along(l, a), a); }},
      {"scatter_to", [](const Layout& l, Axis a, const op::Split& s) { return op::scatter_to(l, a, 0, s); }},
      {"gather_from",
       [](const Layout& l, Axis a, const op::Split& s) { return op::gather_from(cut_along(l, a, 0, s), a, 0); }},
      {"gather_from_copy_to", [](const Layout& l, Axis a,
                                 const op::Split& s) { return op::gather_from_copy_to(cut_along(l, a, 0, s), a, 0); }},
      {"reduce_from_scatter_to",
       [](const Layout& l, Axis a, const op::Split& s) {
         return op::reduce_from_scatter_to(pending_along(l, a), a, 0, s);
       }},
      {"transpose", [](const Layout& l, Axis a,
                       const op::Split& s) { return op::transpose(cut_along(l, a, 1, op::balanced()), a, 0, 1, s); }},
  };
  return all;
}

}  // namespace reshard
