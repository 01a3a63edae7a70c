#include "plan/compare/described.h"

#include <fmt/format.h>

#include "base/checked.h"
#include "base/fail.h"
#include "layout/convention.h"
#include "reshard/error.h"

namespace reshard {
namespace {

constexpr std::string_view kSystem = "a system of placements";

std::string why_not(const Layout& source, const Layout& target) {
  for (const Layout* side : {&source, &target})
    if (side->has_partial()) return fmt::format("{}: pending values are not modelled", side->text());
  const Mesh &a = source.mesh(), &b = target.mesh();
  bool same = a.size() == b.size() && a.axes().size() == b.axes().size();
  for (std::size_t axis = 0; same && axis < a.axes().size(); ++axis) same = a.axes()[axis].size == b.axes()[axis].size;
  for (Index ordinal = 0; same && ordinal < a.size(); ++ordinal)
    same = a.rank_at_ordinal(ordinal) == b.rank_at_ordinal(ordinal);
  if (!same) return fmt::format("moves on one mesh only, not from {} to {}", a.text(), b.text());
  for (const Layout* side : {&source, &target}) {
    if (side->is_view()) return fmt::format("{}: has no views of a larger tensor", side->text());
    for (const AxisKind& kind : side->spec().kinds)
      if (kind.kind == AxisKind::Kind::at)
        return fmt::format("{}: every rank of the mesh holds a part or a copy", side->text());
  }
  return "";
}

// Axis by axis, without those of size 1, which cut nothing.
Placements placements_of(const Layout& layout, const std::vector<int>& kept) {
  Placements placements{std::vector<std::vector<int>>(layout.spec().shape.size())};
  for (std::size_t dim = 0; dim < placements.dims.size(); ++dim) {
    const bool divide = require_chunks(layout, static_cast<int>(dim), kSystem);
    for (const Cut& cut : layout.spec().cuts[dim]) {
      std::vector<int> axes;
      for (const int axis : cut.axes)
        if (kept[axis] >= 0) axes.push_back(kept[axis]);
      if (axes.size() > 1 && !divide)
        fail(Code::unsupported,
             "{}: a flat cut of dimension {} over {} axes differs from cutting axis by axis for {} elements",
             layout.text(), dim, axes.size(), layout.spec().shape[dim]);
      placements.dims[dim].insert(placements.dims[dim].end(), axes.begin(), axes.end());
    }
  }
  return placements;
}

// The models multiply padded extents by ranks and bytes.
bool fits(const TensorOnMesh& tensor) {
  try {
    Index most = checked_mul(tensor.ranks(), 2 * tensor.element_bytes, "bytes");
    for (const Index n : tensor.shape) most = checked_mul(most, checked_add(n, tensor.ranks(), "bytes"), "bytes");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Described describe(const Layout& source, const Layout& target) {
  Described described{.refused = why_not(source, target), .tensor = {}, .source = {}, .target = {}};
  if (!described.refused.empty()) return described;
  TensorOnMesh tensor{.shape = source.shape(), .axes = {}, .element_bytes = bytes_of(source.dtype())};
  std::vector<int> kept;  // per axis of the mesh, its place in tensor.axes or -1
  for (const Axis& axis : source.mesh().axes()) {
    kept.push_back(axis.size > 1 ? static_cast<int>(tensor.axes.size()) : -1);
    if (axis.size > 1) tensor.axes.push_back(axis);
  }
  if (!fits(tensor)) {
    described.refused = "bytes over all ranks, padding included, may pass 2^63";
    return described;
  }
  try {
    described.source = placements_of(source, kept);
    described.target = placements_of(target, kept);
    described.tensor = std::move(tensor);
  } catch (const Error& error) {
    described = {.refused = error.what(), .tensor = {}, .source = {}, .target = {}};
  }
  return described;
}

}  // namespace reshard
