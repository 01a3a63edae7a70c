// What every rank must hold of a tensor before and after an operator: from the whole tensor, element by element, with
// nothing of plans. Shared with the library: which rank holds which region, and how it stores it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "reshard/tensor.h"

namespace reshard {

// Calls visit(address, linear) for every element that `rank` holds.
template <class Visit>
void each_held(const Layout& layout, RankId rank, Visit visit) {
  const Region region = layout.region(rank);
  if (!region.held) return;
  const LocalStorage storage = layout.storage(rank);
  std::vector<std::pair<Index, Index>> held{{storage.offset, 0}};
  for (std::size_t dim = 0; dim < region.dims.size(); ++dim) {
    std::vector<std::pair<Index, Index>> longer;
    for (const auto& [address, linear] : held)
      for (const Segment& s : region.dims[dim])
        for (Index i = 0; i < s.length; ++i)
          longer.emplace_back(address + (s.local.value() + i) * storage.strides[dim],
                              linear * layout.shape()[dim] + s.global.value() + i);
    held = std::move(longer);
  }
  for (const auto& [address, linear] : held) visit(address, linear);
}

inline bool pends(const Layout& layout, std::size_t axis) {
  return layout.spec().kinds[axis].kind == AxisKind::Kind::partial;
}

// Number of the term that lies at `coordinate`.
inline Index term_at(const Layout& layout, const Coordinate& coordinate) {
  Index term = 0;
  for (std::size_t axis = 0; axis < coordinate.size(); ++axis)
    if (pends(layout, axis)) term = term * layout.mesh().axes()[axis].size + coordinate[axis];
  return term;
}

inline Index value_of(Index linear, Index term, Index epoch) {
  return epoch * 1'000'000'000 + term * 1'000'000 + linear + 1;
}

// Coordinates of the source whose terms make up one element on `rank` of the target: all along axes that are reduced,
// the rank's own along those that stay pending. Meshes have the same axes.
inline std::vector<Coordinate> terms_of(const Layout& from, const Layout& to, RankId rank) {
  std::vector<Coordinate> terms{*to.mesh().coordinate_of(rank)};
  for (std::size_t axis = 0; axis < from.mesh().axes().size(); ++axis) {
    if (!pends(from, axis) || pends(to, axis)) continue;
    std::vector<Coordinate> more;
    for (const Coordinate& term : terms)
      for (Index at = 0; at < from.mesh().axes()[axis].size; ++at) {
        more.push_back(term);
        more.back()[axis] = at;
      }
    terms = std::move(more);
  }
  return terms;
}

// i64 tensors.
inline void fill_values(Tensor& tensor, Index epoch) {
  const auto coordinate = tensor.layout().mesh().coordinate_of(tensor.rank());
  auto* const elements = reinterpret_cast<Index*>(tensor.bytes().data());
  each_held(tensor.layout(), tensor.rank(), [&](Index address, Index linear) {
    elements[address] = value_of(linear, term_at(tensor.layout(), *coordinate), epoch);
  });
}

// The first element of `y` that is not what becomes of values laid out as `from`; empty when all are.
inline std::string fault_of(const Tensor& y, const Layout& from, Index epoch) {
  std::string fault;
  const auto* const elements = reinterpret_cast<const Index*>(y.bytes().data());
  each_held(y.layout(), y.rank(), [&](Index address, Index linear) {
    Index expected = 0;
    for (const Coordinate& term : terms_of(from, y.layout(), y.rank()))
      expected += value_of(linear, term_at(from, term), epoch);
    if (elements[address] != expected && fault.empty())
      fault = fmt::format("rank {} holds {} at {}, element {} of epoch {}, expected {}\n  from {}\n  to   {}",
                          y.rank().value(), elements[address], address, linear, epoch, expected, from.text(),
                          y.layout_text());
  });
  return fault;
}

}  // namespace reshard
