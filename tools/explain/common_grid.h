// The grid that both cuttings divide: every cell of it lies whole on each side, so a plan moves cells. Where both sides
// cut a dimension evenly it has the least common multiple of their parts; elsewhere, the cuts of both.
#pragma once

#include <string>
#include <vector>

#include "explain/cutting.h"
#include "reshard/plan.h"

namespace reshard::cli {

struct CommonGrid {
  std::vector<std::vector<Index>> bounds;  // per dimension, as Cutting::bounds
  bool even = true;                        // the least common multiple in every dimension

  Index cells() const;
  std::vector<Index> extents() const;
  // Number of the cell that begins at `at`, counted over the cells of `segments`; and how many those are.
  Index cell_in(int dim, const Segments& segments, Index at) const;
  Index cells_in(int dim, const Segments& segments) const;
};

CommonGrid common_grid(const Cutting& source, const Cutting& target);

// Row-major number of the cell with its corner at `corner` among the cells of one rank.
Index cell_number(const CommonGrid& grid, const Region& region, std::span<const Index> corner);

// One cell on its way: where it lies on each side, counted in cells.
struct CellMove {
  RankId source;
  std::vector<Index> source_cell;
  RankId target;
  std::vector<Index> target_cell;
  auto operator<=>(const CellMove&) const = default;
};

// What a transfer carries, in global indices.
std::vector<Segments> global_slice(const Transfer& transfer, const Cutting& source);
// Number of cells that the plan moves or copies.
Index count_cells(const Plan& plan, const Cutting& source, const CommonGrid& grid);
// The first `limit` cell moves, ordered by source rank and source cell.
std::vector<CellMove> cell_moves(const Plan& plan, const Cutting& source, const Cutting& target, const CommonGrid& grid,
                                 Index limit);

}  // namespace reshard::cli
