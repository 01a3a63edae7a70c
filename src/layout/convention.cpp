#include "layout/convention.h"

#include "base/fail.h"
#include "layout/locate.h"

namespace reshard {
namespace {

bool contiguous_rule(Rule rule) { return rule != Rule::cyclic && rule != Rule::window && rule != Rule::sizes; }

}  // namespace

bool require_chunks(const Layout& layout, int dim, std::string_view notation) {
  const LayoutSpec& spec = layout.spec();
  Index n = spec.shape[dim];
  bool divides = true;
  for (const Cut& cut : spec.cuts[dim]) {
    const Index width = cut_width(spec.mesh, cut);
    divides = divides && n % width == 0 && (n / width) % cut.unit == 0;
    n = divides ? n / width : n;
    const bool chunk = cut.rule == Rule::chunk && cut.unit == 1;
    if (cut.pieces == Pieces::whole && (chunk || (divides && contiguous_rule(cut.rule)))) continue;
    fail(Code::unsupported, "{}: {} can only cut dimension {} in chunks; this cut differs from chunk for {} elements",
         layout.text(), notation, dim, spec.shape[dim]);
  }
  return divides;
}

void require_plain(const Layout& layout, std::string_view notation) {
  const LayoutSpec& spec = layout.spec();
  if (layout.is_view()) fail(Code::unsupported, "{}: {} has no views", layout.text(), notation);
  if (!(spec.storage == StorageOrder{}))
    fail(Code::unsupported, "{}: {} does not say how memory is ordered", layout.text(), notation);
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis) {
    const std::string& name = spec.mesh.axes()[axis].name;
    if (spec.kinds[axis].kind == AxisKind::Kind::at)
      fail(Code::unsupported, "{}: {} cannot say that a tensor exists only at one coordinate of axis \"{}\"",
           layout.text(), notation, name);
    if (spec.kinds[axis].varying)
      fail(Code::unsupported, "{}: {} cannot say that ranks along axis \"{}\" go on differently: leave it replicated",
           layout.text(), notation, name);
  }
}

}  // namespace reshard
