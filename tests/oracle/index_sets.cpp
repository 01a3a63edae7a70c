#include "oracle/index_sets.h"

#include <algorithm>
#include <stdexcept>

namespace reshard::oracle {
namespace {

Index count(const Holding& holding) {
  Index elements = 1;
  for (const IndexSet& along : holding) elements *= static_cast<Index>(along.count());
  return elements;
}

bool is_product_of_sets(const Layout& layout) {
  const auto exists_everywhere = [](const AxisKind& kind) { return kind.kind != AxisKind::Kind::at; };
  return !layout.is_view() && layout.dims() > 0 && std::ranges::all_of(layout.spec().kinds, exists_everywhere) &&
         std::ranges::all_of(layout.shape(), [](Index n) { return n <= static_cast<Index>(IndexSet().size()); });
}

}  // namespace

Holdings holdings_of(const Layout& layout) {
  if (!is_product_of_sets(layout)) throw std::logic_error("no plain product of small sets: " + layout.text());
  Holdings holdings;
  for (Index ordinal = 0; ordinal < layout.mesh().size(); ++ordinal) {
    const Coordinate coordinate = layout.mesh().coordinate_at(ordinal);
    Holding& holding = holdings[layout.mesh().rank_at(coordinate).value()];
    for (const Line& line : stored_lines(layout, coordinate)) {
      IndexSet& along = holding.emplace_back();
      for (const Index index : line)
        if (index != hole) along.set(static_cast<std::size_t>(index));
    }
  }
  return holdings;
}

Index missing(const Holding* held, const Holding& wanted) {
  if (held == nullptr) return count(wanted);
  Holding both = wanted;
  for (std::size_t d = 0; d < both.size(); ++d) both[d] &= (*held)[d];
  return count(wanted) - count(both);
}

}  // namespace reshard::oracle
