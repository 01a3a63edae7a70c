#include "oracle/ownership.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace reshard::oracle {
namespace {

// The number of `coordinate` among the product of a cut's axes, and how many there are.
struct Place {
  Index number = 0;
  Index count = 1;
};

Place place_in(const Cut& cut, const Mesh& mesh, const Coordinate& coordinate) {
  Place place;
  for (const int axis : cut.axes) {
    const auto a = static_cast<std::size_t>(axis);
    place.number = place.number * mesh.axes()[a].size + coordinate[a];
    place.count *= mesh.axes()[a].size;
  }
  return place;
}

Line stored_line(const LayoutSpec& spec, std::size_t dim, const Coordinate& coordinate) {
  Line line = whole_line(spec.shape[dim]);
  if (dim >= spec.cuts.size()) return line;
  for (const Cut& cut : spec.cuts[dim]) {
    const Place place = place_in(cut, spec.mesh, coordinate);
    line = deal(line, cut, place.count)[static_cast<std::size_t>(place.number)];
  }
  return line;
}

bool exists_at(const LayoutSpec& spec, const Coordinate& coordinate) {
  for (std::size_t a = 0; a < spec.kinds.size(); ++a)
    if (spec.kinds[a].kind == AxisKind::Kind::at && spec.kinds[a].at != coordinate[a]) return false;
  return true;
}

// What a line of stored indices is called in the view.
Line seen_through(const Line& stored, const std::vector<Slice>& view, std::size_t dim) {
  if (view.empty()) return stored;
  Line seen;
  for (const Index g : stored) {
    const Index v = g - view[dim].begin.value();
    seen.push_back(g != hole && 0 <= v && v < view[dim].length ? v : hole);
  }
  return seen;
}

std::vector<Index> extents_of(const std::vector<Line>& lines) {
  std::vector<Index> extents;
  for (const Line& line : lines) extents.push_back(static_cast<Index>(line.size()));
  return extents;
}

std::vector<Index> strides_of(const StorageOrder& storage, const std::vector<Index>& extents) {
  if (!storage.strides.empty()) return storage.strides;
  std::vector<int> order = storage.order;
  if (order.empty()) {
    order.resize(extents.size());
    std::iota(order.begin(), order.end(), 0);
  }
  std::vector<Index> strides(extents.size());
  Index step = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto dim = static_cast<std::size_t>(order[k]);
    strides[dim] = step;
    step *= extents[dim];
  }
  return strides;
}

// Writes into every cell of the buffer which element of the view lies there.
void fill_buffer(Part& part, const LayoutSpec& spec, const std::vector<Index>& view_shape) {
  std::vector<Line> seen;
  for (std::size_t d = 0; d < part.stored.size(); ++d) seen.push_back(seen_through(part.stored[d], spec.view, d));
  each_index(extents_of(part.stored), [&](const std::vector<Index>& local) {
    Index address = 0;
    Index element = 0;
    std::size_t logical = 0;
    for (std::size_t d = 0; d < local.size(); ++d) {
      address += local[d] * part.strides[d];
      const Index v = seen[d][static_cast<std::size_t>(local[d])];
      const bool dropped = !spec.view.empty() && spec.view[d].dropped;
      if (element != hole && v == hole) element = hole;
      if (element != hole && !dropped) element = element * view_shape[logical] + v;
      if (!dropped) ++logical;
    }
    if (static_cast<std::size_t>(address) >= part.buffer.size())
      part.buffer.resize(static_cast<std::size_t>(address) + 1, hole);
    part.buffer[static_cast<std::size_t>(address)] = element;
  });
}

Part part_at(const Layout& layout, const Coordinate& coordinate) {
  const LayoutSpec& spec = layout.spec();
  Part part;
  const bool exists = exists_at(spec, coordinate);
  part.held = exists;
  part.stored = stored_lines(layout, coordinate);
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    const Line seen = seen_through(part.stored[d], spec.view, d);
    if (spec.view.empty() || !spec.view[d].dropped) {
      part.logical.push_back(seen);
    } else {
      part.held = part.held && std::ranges::count(seen, 0) == 1;
    }
  }
  part.strides = strides_of(spec.storage, extents_of(part.stored));
  if (exists) fill_buffer(part, spec, layout.shape());
  return part;
}

std::vector<Index> axis_sizes(const Mesh& mesh) {
  std::vector<Index> sizes;
  for (const Axis& axis : mesh.axes()) sizes.push_back(axis.size);
  return sizes;
}

}  // namespace

Index product(const std::vector<Index>& extents) {
  Index result = 1;
  for (const Index e : extents) result *= e;
  return result;
}

Index linear_index(const std::vector<Index>& index, const std::vector<Index>& extents) {
  Index result = 0;
  for (std::size_t d = 0; d < index.size(); ++d) result = result * extents[d] + index[d];
  return result;
}

std::vector<Line> stored_lines(const Layout& layout, const Coordinate& coordinate) {
  std::vector<Line> lines;
  for (std::size_t d = 0; d < layout.spec().shape.size(); ++d)
    lines.push_back(stored_line(layout.spec(), d, coordinate));
  return lines;
}

Ownership ownership_of(const Layout& layout) {
  Ownership result;
  result.shape = layout.shape();
  each_index(axis_sizes(layout.mesh()), [&](const Coordinate& coordinate) {
    result.parts[layout.mesh().rank_at(coordinate).value()] = part_at(layout, coordinate);
  });
  return result;
}

std::vector<std::uint64_t> owner_bits(const Ownership& ownership) {
  std::vector<std::uint64_t> owners(static_cast<std::size_t>(product(ownership.shape)), 0);
  for (const auto& [rank, part] : ownership.parts)
    for (const Index element : part.buffer)
      if (element != hole) owners[static_cast<std::size_t>(element)] |= std::uint64_t{1} << rank;
  return owners;
}

}  // namespace reshard::oracle
