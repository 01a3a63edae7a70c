#include "plan/lift.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "base/reducible.h"

namespace reshard {
namespace {

constexpr std::string_view kWayOut = "move to a layout that is replicated along it first, then to this one";

void check_same_tensor(const Layout& source, const Layout& target) {
  if (source.shape() != target.shape())
    fail(Code::invalid_argument,
         "source has shape [{}] and target [{}]: both must describe the same tensor\n  source {}\n  target {}",
         fmt::join(source.shape(), ","), fmt::join(target.shape(), ","), source.text(), target.text());
  if (source.dtype() != target.dtype())
    fail(Code::invalid_argument,
         "source is {} and target {}: convert the dtype before or after the move\n  source {}\n  target {}",
         name_of(source.dtype()), name_of(target.dtype()), source.text(), target.text());
}

struct PartialAxis {
  int axis = 0;
  std::string name;
  ReduceOp op = ReduceOp::sum;
  Index terms = 1;
  int partner = -1;  // axis of the other layout along which the same terms stay pending
};

std::vector<PartialAxis> partial_axes(const Layout& layout) {
  std::vector<PartialAxis> axes;
  const auto& kinds = layout.spec().kinds;
  for (std::size_t axis = 0; axis < kinds.size(); ++axis) {
    if (kinds[axis].kind != AxisKind::Kind::partial) continue;
    const Axis& of_mesh = layout.mesh().axes()[axis];
    axes.push_back({static_cast<int>(axis), of_mesh.name, kinds[axis].op, of_mesh.size});
  }
  return axes;
}

std::string text_of(const PartialAxis& axis) {
  return fmt::format("partial({}) along \"{}\"", name_of(axis.op), axis.name);
}

// An axis of one rank pends nothing: its term is the value.
bool pends(const PartialAxis& axis) { return axis.terms > 1; }

void pair(PartialAxis& source, PartialAxis& target) {
  source.partner = target.axis;
  target.partner = source.axis;
}

// The same axis first; then, in order, whatever has as many terms of the same op.
void pair_up(std::vector<PartialAxis>& sources, std::vector<PartialAxis>& targets) {
  const auto fits = [](const PartialAxis& source, const PartialAxis& target) {
    return pends(source) && source.partner < 0 && target.partner < 0 && source.op == target.op &&
           source.terms == target.terms;
  };
  for (const bool by_name : {true, false})
    for (PartialAxis& target : targets)
      for (PartialAxis& source : sources)
        if (fits(source, target) && (!by_name || source.name == target.name)) pair(source, target);
}

// Those of one kind, sum and avg being one, whose order does not matter.
void check_one_kind(const std::vector<const PartialAxis*>& axes, const Layout& layout, std::string_view what) {
  for (const PartialAxis* axis : axes) {
    if (!is_reducible(layout.dtype(), axis->op))
      fail(Code::unsupported, "{}: {} cannot be {} by {}", layout.text(), name_of(layout.dtype()), what,
           name_of(axis->op));
    const auto kind = [](ReduceOp op) { return op == ReduceOp::avg ? ReduceOp::sum : op; };
    if (kind(axis->op) == kind(axes.front()->op)) continue;
    fail(Code::unsupported,
         "{}: {} and {} give another result in another order; take one at a time, in the order you mean, by a layout "
         "that leaves the other as it is",
         layout.text(), text_of(*axes.front()), text_of(*axis));
  }
}

bool same_ranks(const Mesh& a, const Mesh& b) { return a.renamed("") == b.renamed(""); }

// Ranks of the target that differ only along `axes` hold the same of the source.
bool replicated_along(const Layout& source, const Layout& target, const std::vector<int>& axes) {
  const auto& kinds = source.spec().kinds;
  const auto is_free = [&](int axis) {
    return kinds[static_cast<std::size_t>(axis)].kind == AxisKind::Kind::replicate;
  };
  if (same_ranks(source.mesh(), target.mesh())) return std::ranges::all_of(axes, is_free);
  for (Index ordinal = 0; ordinal < target.mesh().size(); ++ordinal) {
    Coordinate coordinate = target.mesh().coordinate_at(ordinal);
    const auto own = source.mesh().coordinate_of(target.mesh().rank_at(coordinate));
    for (const int axis : axes) coordinate[static_cast<std::size_t>(axis)] = 0;
    const auto first = source.mesh().coordinate_of(target.mesh().rank_at(coordinate));
    if (!own || !first) return false;
    for (std::size_t axis = 0; axis < own->size(); ++axis)
      if ((*own)[axis] != (*first)[axis] && !is_free(static_cast<int>(axis))) return false;
  }
  return true;
}

// Target axes along which nothing pends yet: the value becomes the first of their terms.
std::vector<const PartialAxis*> newly_pending(const Layout& source, const Layout& target,
                                              const std::vector<PartialAxis>& sources,
                                              const std::vector<PartialAxis>& targets) {
  std::vector<const PartialAxis*> made;
  for (const PartialAxis& axis : targets) {
    if (!pends(axis) || axis.partner >= 0) continue;
    if (replicated_along(source, target, {axis.axis})) {
      made.push_back(&axis);
      continue;
    }
    const auto pending = std::ranges::find_if(
        sources, [&](const PartialAxis& s) { return pends(s) && s.partner < 0 && s.name == axis.name; });
    if (pending != sources.end())
      fail(Code::unsupported, "{} of {} terms cannot become {} of {}: {}\n  source {}\n  target {}", text_of(*pending),
           pending->terms, text_of(axis), axis.terms, kWayOut, source.text(), target.text());
    fail(Code::unsupported,
         "the target is {}, but the source is neither that nor replicated along these ranks, so that there is nothing "
         "whose terms they could hold: {}\n  source {}\n  target {}",
         text_of(axis), kWayOut, source.text(), target.text());
  }
  return made;
}

// `layout` with leading dimensions of these extents; `cut_by` names the axis that cuts each, -1 for none.
Layout with_leading(const Layout& layout, const std::vector<Index>& extents, const std::vector<int>& cut_by,
                    std::vector<AxisKind> kinds) {
  LayoutSpec spec = layout.spec();
  spec.kinds = std::move(kinds);
  spec.storage = {};  // lifted layouts say who holds what; nobody stores them
  spec.shape.insert(spec.shape.begin(), extents.begin(), extents.end());
  std::vector<std::vector<Cut>> cuts(extents.size());
  for (std::size_t dim = 0; dim < extents.size(); ++dim)
    if (cut_by[dim] >= 0) cuts[dim].emplace_back().axes = {cut_by[dim]};
  spec.cuts.insert(spec.cuts.begin(), cuts.begin(), cuts.end());
  std::vector<Slice> whole;
  for (const Index extent : extents) whole.push_back({GlobalIndex(0), extent, false});
  if (!spec.view.empty()) spec.view.insert(spec.view.begin(), whole.begin(), whole.end());
  return Layout(std::move(spec));
}

// Kinds of a lifted layout: what was partial cuts a dimension now, or nothing.
std::vector<AxisKind> without_partial(const Layout& layout) {
  std::vector<AxisKind> kinds = layout.spec().kinds;
  for (AxisKind& kind : kinds)
    if (kind.kind == AxisKind::Kind::partial) kind = {};
  return kinds;
}

Fold fold_of(const std::vector<const PartialAxis*>& reduced) {
  Fold fold;
  for (const PartialAxis* axis : reduced) {
    if (fold.op != ReduceOp::avg) fold.op = axis->op;
    fold.terms = checked_mul(fold.terms, axis->terms, "terms of a reduction");
    if (axis->op == ReduceOp::avg) fold.divisor *= axis->terms;
  }
  return fold;
}

}  // namespace

std::optional<Lift> lift(const Layout& source, const Layout& target) {
  check_same_tensor(source, target);
  if (!source.has_partial() && !target.has_partial()) return std::nullopt;
  std::vector<PartialAxis> sources = partial_axes(source), targets = partial_axes(target);
  pair_up(sources, targets);

  std::vector<const PartialAxis*> reduced;
  for (const PartialAxis& axis : sources)
    if (pends(axis) && axis.partner < 0) reduced.push_back(&axis);
  const auto made = newly_pending(source, target, sources, targets);
  check_one_kind(reduced, source, "reduced");
  check_one_kind(made, target, "pending");

  std::vector<Index> extents, met;
  std::vector<int> source_axes, target_axes, reduced_axes, made_axes;
  for (const PartialAxis& axis : sources) {
    extents.push_back(axis.terms);
    met.push_back(axis.partner < 0 ? axis.terms : 1);
    source_axes.push_back(axis.axis);
    target_axes.push_back(axis.partner);
  }
  for (const PartialAxis* axis : reduced) reduced_axes.push_back(axis->axis);

  std::vector<AxisKind> target_kinds = without_partial(target);
  std::optional<ReduceOp> identity;
  for (const PartialAxis* axis : made) {
    made_axes.push_back(axis->axis);
    if (axis->op == ReduceOp::avg) continue;  // the average of equal values is the value: all keep it
    target_kinds[static_cast<std::size_t>(axis->axis)] = {AxisKind::Kind::at, ReduceOp::sum, 0};
    identity = axis->op;
  }
  return Lift{.source = with_leading(source, extents, source_axes, without_partial(source)),
              .target = with_leading(target, extents, target_axes, std::move(target_kinds)),
              .extents = std::move(met),
              .reduced_axes = std::move(reduced_axes),
              .made_axes = std::move(made_axes),
              .fold = fold_of(reduced),
              .identity = identity};
}

}  // namespace reshard
