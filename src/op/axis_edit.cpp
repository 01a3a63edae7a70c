#include "op/axis_edit.h"

#include <algorithm>

#include "base/fail.h"
#include "op/kinds.h"

namespace reshard::op {

AxisEdit::AxisEdit(std::string_view name, const Layout& in, std::string_view axis)
    : name_(name), axis_(axis), in_(in), spec_(in.spec()) {
  const auto range = in.mesh().find(axis);
  for (int leaf = 0; range && leaf < range->count; ++leaf) axes_.push_back(range->first + leaf);
  for (const int leaf : axes_) spec_.kinds[static_cast<std::size_t>(leaf)] = {};
}

void AxisEdit::refuse(std::string_view expected) const {
  std::string found;
  for (const int leaf : axes_)
    found += (found.empty() ? "" : ", ") + text_of(in_.spec().kinds[static_cast<std::size_t>(leaf)]);
  fail(Code::invalid_argument, "{}: axis \"{}\" is to be {}, but it is {}\n  in {}", name_, axis_, expected, found,
       in_.text());
}

AxisEdit& AxisEdit::expect_invariant() {
  for (const int leaf : axes_)
    if (kind_of(in_.spec().kinds[static_cast<std::size_t>(leaf)]) != ValueKind::invariant)
      refuse("invariant: replicated, and not varying");
  return *this;
}

AxisEdit& AxisEdit::expect_pending() {
  for (const int leaf : axes_)
    if (kind_of(in_.spec().kinds[static_cast<std::size_t>(leaf)]) != ValueKind::pending) refuse("partial(sum)");
  return *this;
}

// Of the stored dimension; negative ones count from the end.
std::size_t AxisEdit::checked_dim(int dim) const {
  const int dims = in_.dims();
  if (dim < -dims || dim >= dims)
    fail(Code::invalid_argument, "{}: dimension {} is out of range for a tensor of {} dimensions\n  in {}", name_, dim,
         dims, in_.text());
  return static_cast<std::size_t>(in_.stored_dims()[static_cast<std::size_t>(dim < 0 ? dim + dims : dim)]);
}

AxisEdit& AxisEdit::expect_cut(int dim) {
  const std::size_t stored = checked_dim(dim);
  if (!exists()) return *this;
  std::vector<Cut>& cuts = spec_.cuts[stored];
  const auto own = std::ranges::find(cuts, axes_, &Cut::axes);
  if (own == cuts.end()) refuse(fmt::format("what cuts dimension {}, with no other axis in the same cut", dim));
  cuts.erase(own);
  return *this;
}

Layout AxisEdit::with(const AxisKind& kind) const {
  LayoutSpec spec = spec_;
  for (const int leaf : axes_) spec.kinds[static_cast<std::size_t>(leaf)] = kind;
  return Layout(std::move(spec));
}

Layout AxisEdit::invariant() const { return with({}); }

Layout AxisEdit::varying() const { return with({.varying = true}); }

Layout AxisEdit::cut(int dim, const Cut& split) const {
  const std::size_t stored = checked_dim(dim);
  if (!exists()) return in_;
  LayoutSpec spec = spec_;
  Cut& own = spec.cuts[stored].emplace_back(split);
  own.axes = axes_;
  return Layout(std::move(spec));
}

}  // namespace reshard::op
