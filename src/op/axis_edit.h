// Layouts in which one mesh axis does something else.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "reshard/layout.h"

namespace reshard::op {

// One axis of a layout, seen by the operator `name`, which its errors begin with. A group of sub-axes is one axis.
class AxisEdit {
 public:
  AxisEdit(std::string_view name, const Layout& in, std::string_view axis);

  // False: the mesh has no such axis.
  bool exists() const { return !axes_.empty(); }
  // The layout with nothing cut, pending or varying along the axis; what it does in `in` must be this. `is_cut`: the
  // last cut of `dim`, or the only one by this axis.
  AxisEdit& expect_invariant();
  AxisEdit& expect_pending();
  AxisEdit& expect_cut(int dim);
  // What the axis does instead.
  Layout invariant() const;
  Layout varying() const;
  Layout cut(int dim, const Cut& split) const;

 private:
  std::size_t checked_dim(int dim) const;
  [[noreturn]] void refuse(std::string_view expected) const;
  Layout with(const AxisKind& kind) const;

  std::string_view name_, axis_;
  const Layout& in_;
  LayoutSpec spec_;        // with the axis free
  std::vector<int> axes_;  // leaves
};

}  // namespace reshard::op
