// Which part of a tensor a picture shows: two of its dimensions, and of their cells as many as fit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/common_grid.h"

namespace reshard::cli {

// The two most cut dimensions; the picture is the slab at index 0 of the others. A 1-d tensor lies as a row.
struct Frame {
  std::optional<int> row_dim = {};
  std::optional<int> column_dim = {};
};

Frame frame_of(const std::vector<std::vector<Index>>& bounds);
// The element at the corner of a cell of the picture.
std::vector<Index> corner_of(const Frame& frame, int dims, Index row, Index column);
// What the picture leaves out: "dimension 0 (cut in 4): the part 0:2 is drawn". Empty if nothing.
std::string hidden_text(const Frame& frame, const std::vector<std::vector<Index>>& bounds);
// "rows" and "cols" for a 2-d tensor, otherwise "dim 3".
std::string dim_name(int dim, int dims);

inline constexpr Index kGap = -1;
// Cells 0 .. count-1, or the first and the last with a gap between, `limit` in all.
std::vector<Index> visible(Index count, Index limit);
Index hidden_count(const std::vector<Index>& shown, Index count);

// "r3.1": the first rank that holds the cell, "+2" for two further copies, and the cell's number there.
std::string stamp_text(const Cutting& source, const CommonGrid& grid, std::span<const Index> corner);

}  // namespace reshard::cli
