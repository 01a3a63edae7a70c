#include "plan/compare/placements.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.h"

namespace reshard {

Index TensorOnMesh::ranks() const {
  Index ranks = 1;
  for (const Axis& axis : axes) ranks *= axis.size;
  return ranks;
}

Coordinate TensorOnMesh::coordinate_at(Index ordinal) const {
  Coordinate coordinate(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    coordinate[axis] = ordinal % axes[axis].size;
    ordinal /= axes[axis].size;
  }
  return coordinate;
}

int Placements::dim_of(int axis) const {
  for (std::size_t dim = 0; dim < dims.size(); ++dim)
    if (std::ranges::find(dims[dim], axis) != dims[dim].end()) return static_cast<int>(dim);
  return -1;
}

bool Placements::in_axis_order() const {
  return std::ranges::all_of(dims, [](const std::vector<int>& axes) { return std::ranges::is_sorted(axes); });
}

ChunkRange chunk_of(const TensorOnMesh& tensor, Index n, std::span<const int> axes, std::span<const Index> coordinate) {
  ChunkRange chunk{0, n};
  for (const int axis : axes) {
    const Index part = ceil_div(chunk.length, tensor.axes[axis].size);
    const Index begin = std::min(part * coordinate[axis], chunk.length);
    chunk = {chunk.begin + begin, std::min(part, chunk.length - begin)};
  }
  return chunk;
}

ChunkRange chunk_of(const TensorOnMesh& tensor, const Placements& placements, int dim,
                    std::span<const Index> coordinate) {
  return chunk_of(tensor, tensor.shape[dim], placements.dims[dim], coordinate);
}

Index local_elements(const TensorOnMesh& tensor, const Placements& placements, std::span<const Index> coordinate) {
  Index elements = 1;
  for (std::size_t dim = 0; dim < tensor.shape.size(); ++dim)
    elements *= chunk_of(tensor, placements, static_cast<int>(dim), coordinate).length;
  return elements;
}

Index greatest_elements(const TensorOnMesh& tensor, const Placements& placements) {
  return local_elements(tensor, placements, Coordinate(tensor.axes.size(), 0));
}

bool divides(const TensorOnMesh& tensor, const Placements& placements) {
  for (std::size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    Index parts = 1;
    for (const int axis : placements.dims[dim]) parts *= tensor.axes[axis].size;
    if (tensor.shape[dim] % parts != 0) return false;
  }
  return true;
}

std::string text_of(const TensorOnMesh& tensor, const Placements& placements) {
  std::vector<std::string> words(tensor.axes.size(), "R");
  for (std::size_t dim = 0; dim < placements.dims.size(); ++dim) {
    const std::vector<int>& axes = placements.dims[dim];
    const bool in_order = std::ranges::is_sorted(axes);
    for (std::size_t turn = 0; turn < axes.size(); ++turn)
      words[axes[turn]] = in_order ? fmt::format("S{}", dim) : fmt::format("S{}[{}]", dim, turn);
  }
  return fmt::format("({})", fmt::join(words, ","));
}

// Axis after axis: it replicates, or takes one of the turns of one dimension.
Index count_placements(const TensorOnMesh& tensor, Index most) {
  std::vector<Index> by_cutting = {1};  // placements of the axes so far, by how many of them cut
  for (std::size_t axis = 0; axis < tensor.axes.size(); ++axis) {
    std::vector<Index> next(by_cutting.size() + 1, 0);
    for (std::size_t cutting = 0; cutting < by_cutting.size(); ++cutting) {
      const Index places = static_cast<Index>(cutting + tensor.shape.size());
      next[cutting] = std::min(most, next[cutting] + by_cutting[cutting]);
      if (!tensor.shape.empty())
        next[cutting + 1] =
            std::min(most, next[cutting + 1] + std::min(by_cutting[cutting], most / places + 1) * places);
    }
    by_cutting = std::move(next);
  }
  Index count = 0;
  for (const Index placements : by_cutting) count = std::min(most, count + placements);
  return count;
}

std::vector<Placements> all_placements(const TensorOnMesh& tensor) {
  std::vector<Placements> all = {{std::vector<std::vector<int>>(tensor.shape.size())}};
  for (std::size_t axis = 0; axis < tensor.axes.size(); ++axis) {
    const std::vector<Placements> before = all;
    for (const Placements& placements : before)
      for (std::size_t dim = 0; dim < placements.dims.size(); ++dim)
        for (std::size_t turn = 0; turn <= placements.dims[dim].size(); ++turn) {
          Placements& fresh = all.emplace_back(placements);
          fresh.dims[dim].insert(fresh.dims[dim].begin() + static_cast<std::ptrdiff_t>(turn), static_cast<int>(axis));
        }
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace reshard
