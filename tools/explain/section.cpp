#include "explain/section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "output/canvas.h"
#include "output/numbers.h"

namespace reshard::cli {
namespace {

constexpr int kIndent = 3;

}  // namespace

std::string heading(std::string_view text, const ShowOptions& options) {
  return "\n" + styled(text, {.bold = true}, options.colour) + "\n";
}

std::string indented(std::string_view text) { return fmt::format("{:{}}{}\n", "", kIndent, text); }

Index limit_of(Index all, const ShowOptions& options) { return options.rows == 0 ? all : std::min(all, options.rows); }

std::string more_text(Index shown, Index all) {
  if (shown >= all) return "";
  return indented(fmt::format("… {} of {} not listed (--rows 0 lists all)", count_text(all - shown), count_text(all)));
}

std::string cell_text(RankId rank, std::span<const Index> cell) {
  return fmt::format("{} · {}", rank.value(), tuple_text(cell));
}

std::string cells_table(std::span<const CellMove> moves) {
  int width = 12;
  for (const CellMove& cell : moves) width = std::max(width, width_of(cell_text(cell.source, cell.source_cell)) + 3);
  const std::string gap(static_cast<std::size_t>(width + 10 - 15), ' ');
  std::string out = indented("source rank·idx" + gap + "target rank·idx");
  out += indented("───────────────" + gap + "───────────────");
  for (const CellMove& cell : moves) {
    const std::string from = cell_text(cell.source, cell.source_cell);
    const std::string blanks(static_cast<std::size_t>(width - width_of(from)), ' ');
    out += indented(from + blanks + "──▶       " + cell_text(cell.target, cell.target_cell));
  }
  return out;
}

std::string middle_text(std::span<const Index> source_counts, std::span<const Index> target_counts,
                        std::span<const Index> middle) {
  std::vector<std::string> terms;
  for (std::size_t dim = 0; dim < middle.size(); ++dim)
    terms.push_back(fmt::format("lcm({},{})", source_counts[dim], target_counts[dim]));
  if (terms.empty()) return "one cell";
  return fmt::format("( {} ) = {}", fmt::join(terms, ", "), extents_text(middle));
}

}  // namespace reshard::cli
