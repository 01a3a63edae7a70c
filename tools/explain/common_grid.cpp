#include "explain/common_grid.h"

#include <algorithm>
#include <numeric>

namespace reshard::cli {
namespace {

constexpr Index kGreatestEvenGrid = Index{1} << 20;  // lines per dimension

std::vector<Index> even_bounds(Index extent, Index parts) {
  std::vector<Index> bounds;
  for (Index k = 0; k <= parts; ++k) bounds.push_back(extent / parts * k);
  return bounds;
}

std::vector<Index> both(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> bounds;
  std::ranges::set_union(a, b, std::back_inserter(bounds));
  return bounds;
}

Index line(const std::vector<Index>& bounds, Index at) { return std::ranges::lower_bound(bounds, at) - bounds.begin(); }

// Corners of the grid's cells in a slice, per dimension.
std::vector<std::vector<Index>> corners_of(const std::vector<Segments>& slice, const CommonGrid& grid) {
  std::vector<std::vector<Index>> corners;
  for (std::size_t dim = 0; dim < slice.size(); ++dim) {
    corners.emplace_back();
    const std::vector<Index>& bounds = grid.bounds[dim];
    for (const Segment& segment : slice[dim])
      for (Index k = line(bounds, segment.global.value());
           bounds[static_cast<std::size_t>(k)] < (segment.global + segment.length).value(); ++k)
        corners.back().push_back(bounds[static_cast<std::size_t>(k)]);
  }
  return corners;
}

void add_moves(const Transfer& transfer, const Cutting& source, const Cutting& target, const CommonGrid& grid,
               std::vector<CellMove>& moves) {
  const auto corners = corners_of(global_slice(transfer, source), grid);
  const Region& from = source.find(transfer.source)->region;
  const Region& to = target.find(transfer.target)->region;
  std::vector<std::size_t> at(corners.size(), 0);
  for (;;) {
    CellMove move{transfer.source, {}, transfer.target, {}};
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      const Index corner = corners[dim][at[dim]];
      move.source_cell.push_back(grid.cell_in(static_cast<int>(dim), from.dims[dim], corner));
      move.target_cell.push_back(grid.cell_in(static_cast<int>(dim), to.dims[dim], corner));
    }
    moves.push_back(std::move(move));
    std::size_t dim = at.size();
    while (dim > 0 && ++at[dim - 1] == corners[dim - 1].size()) at[--dim] = 0;
    if (dim == 0) return;
  }
}

}  // namespace

Index CommonGrid::cells() const {
  Index cells = 1;
  for (const Index extent : extents()) cells *= extent;
  return cells;
}

std::vector<Index> CommonGrid::extents() const {
  std::vector<Index> extents;
  for (const auto& lines : bounds) extents.push_back(std::ssize(lines) - 1);
  return extents;
}

Index CommonGrid::cell_in(int dim, const Segments& segments, Index at) const {
  const std::vector<Index>& lines = bounds[static_cast<std::size_t>(dim)];
  Index before = 0;
  for (const Segment& segment : segments) {
    const Index begin = segment.global.value();
    if (at < begin) break;
    before += line(lines, std::min(at, begin + segment.length)) - line(lines, begin);
  }
  return before;
}

Index CommonGrid::cells_in(int dim, const Segments& segments) const {
  return segments.empty() ? 0 : cell_in(dim, segments, (segments.back().global + segments.back().length).value());
}

CommonGrid common_grid(const Cutting& source, const Cutting& target) {
  CommonGrid grid;
  for (int dim = 0; dim < source.layout().dims(); ++dim) {
    const auto d = static_cast<std::size_t>(dim);
    const Index a = source.equal_parts(dim), b = target.equal_parts(dim);
    const bool even = a > 0 && b > 0 && a / std::gcd(a, b) <= kGreatestEvenGrid / b;
    grid.even = grid.even && even;
    grid.bounds.push_back(even ? even_bounds(source.layout().shape()[d], std::lcm(a, b))
                               : both(source.bounds()[d], target.bounds()[d]));
  }
  return grid;
}

Index cell_number(const CommonGrid& grid, const Region& region, std::span<const Index> corner) {
  Index number = 0;
  for (std::size_t dim = 0; dim < corner.size(); ++dim)
    number = number * grid.cells_in(static_cast<int>(dim), region.dims[dim]) +
             grid.cell_in(static_cast<int>(dim), region.dims[dim], corner[dim]);
  return number;
}

std::vector<Segments> global_slice(const Transfer& transfer, const Cutting& source) {
  const Region& region = source.find(transfer.source)->region;
  std::vector<Segments> slice;
  for (std::size_t dim = 0; dim < transfer.dims.size(); ++dim) {
    Segments runs;
    for (const Span& span : transfer.dims[dim])
      for (const Segment& segment : region.dims[dim]) {
        const LocalIndex begin = std::max(segment.local, span.source);
        const LocalIndex end = std::min(segment.local + segment.length, span.source + span.length);
        if (begin < end) runs.push_back({begin, segment.global + (begin - segment.local), end - begin});
      }
    std::ranges::sort(runs, {}, &Segment::global);
    Segments merged;
    for (const Segment& run : runs) {
      if (!merged.empty() && merged.back().global + merged.back().length == run.global)
        merged.back().length += run.length;
      else
        merged.push_back(run);
    }
    slice.push_back(std::move(merged));
  }
  return slice;
}

Index count_cells(const Plan& plan, const Cutting& source, const CommonGrid& grid) {
  Index total = 0;
  for (const Transfer& transfer : plan.transfers()) {
    const auto slice = global_slice(transfer, source);
    Index cells = 1;
    for (std::size_t dim = 0; dim < slice.size(); ++dim) cells *= grid.cells_in(static_cast<int>(dim), slice[dim]);
    total += cells;
  }
  return total;
}

std::vector<CellMove> cell_moves(const Plan& plan, const Cutting& source, const Cutting& target, const CommonGrid& grid,
                                 Index limit) {
  std::vector<const Transfer*> by_source;
  for (const Transfer& transfer : plan.transfers()) by_source.push_back(&transfer);
  std::ranges::stable_sort(by_source, {}, &Transfer::source);
  std::vector<CellMove> moves;
  for (std::size_t k = 0; k < by_source.size(); ++k) {
    if (k > 0 && by_source[k]->source != by_source[k - 1]->source && std::ssize(moves) >= limit) break;
    add_moves(*by_source[k], source, target, grid, moves);
  }
  std::ranges::sort(moves);
  if (std::ssize(moves) > limit) moves.resize(static_cast<std::size_t>(limit));
  return moves;
}

}  // namespace reshard::cli
