// What the sections of explain's text have in common.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "explain/common_grid.h"
#include "explain/explained.h"

namespace reshard::cli {

std::string heading(std::string_view text, const ShowOptions& options);
// One line.
std::string indented(std::string_view text);
// Rows to show of `all`.
Index limit_of(Index all, const ShowOptions& options);
// "… 12 of 28 not listed (--rows 0 lists all)"; empty if all are shown.
std::string more_text(Index shown, Index all);

// "2 · (0,1)".
std::string cell_text(RankId rank, std::span<const Index> cell);
// One line per cell: "2 · (0,1)   ──▶       3 · (0,0)", under headings.
std::string cells_table(std::span<const CellMove> moves);
// "( lcm(4,2), lcm(1,2) ) = 4×2"; "one cell" for a 0-d tensor.
std::string middle_text(std::span<const Index> source_counts, std::span<const Index> target_counts,
                        std::span<const Index> middle);

}  // namespace reshard::cli
