#include "explain/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "output/numbers.h"
#include "output/palette.h"

namespace reshard::cli {
namespace {

constexpr std::size_t kRanksWidth = 14;
constexpr Index kWidestPicture = 64;  // columns that are tried

using Bounds = std::vector<Index>;
using CellAt = std::function<BoxCell(std::span<const Index> corner)>;

// The lines along one dimension of the picture; a dimension that is not there has one part.
Bounds along(const std::vector<Bounds>& bounds, std::optional<int> dim) {
  return dim ? bounds[static_cast<std::size_t>(*dim)] : Bounds{0, 1};
}

// Lines between visible cells: `inside` says what lies at a bound.
std::vector<Line> lines_of(const std::vector<Index>& shown, const Bounds& bounds,
                           const std::function<Line(Index)>& inside) {
  std::vector<Line> lines{Line::light};
  for (std::size_t k = 1; k < shown.size(); ++k) {
    const bool gap = shown[k] == kGap || shown[k - 1] == kGap;
    lines.push_back(gap ? Line::light : inside(bounds[static_cast<std::size_t>(shown[k])]));
  }
  lines.push_back(Line::light);
  return lines;
}

std::vector<std::string> ranges_of(const std::vector<Index>& shown, const Bounds& bounds) {
  std::vector<std::string> notes;
  for (const Index k : shown)
    notes.push_back(
        k == kGap ? "…"
                  : fmt::format("{}:{}", bounds[static_cast<std::size_t>(k)], bounds[static_cast<std::size_t>(k) + 1]));
  return notes;
}

std::string left_out_text(const std::vector<Index>& rows, Index row_count, const std::vector<Index>& columns,
                          Index column_count) {
  std::string text;
  const auto add = [&](const std::vector<Index>& shown, Index count, std::string_view noun) {
    if (const Index hidden = hidden_count(shown, count); hidden > 0)
      text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", count_text(hidden), count_text(count, noun));
  };
  add(rows, row_count, "row");
  add(columns, column_count, "column");
  return text;
}

// Cells of the picture, with as many columns as fit `width`.
struct Cells {
  std::vector<Index> rows, columns;
  std::vector<std::vector<BoxCell>> cells;
};

Cells fill(const Bounds& row_bounds, const Bounds& column_bounds, const ShowOptions& options, int padding,
           const std::function<BoxCell(Index, Index)>& cell_at) {
  Cells result;
  result.rows = visible(std::ssize(row_bounds) - 1, options.rows == 0 ? std::ssize(row_bounds) : options.rows);
  Index limit = std::min(std::ssize(column_bounds) - 1, kWidestPicture);
  for (;;) {
    result.columns = visible(std::ssize(column_bounds) - 1, limit);
    result.cells.clear();
    int widest = 1;
    for (const Index r : result.rows) {
      result.cells.emplace_back();
      for (const Index c : result.columns) {
        BoxCell cell{"…"};
        if (r != kGap && c != kGap)
          cell = cell_at(row_bounds[static_cast<std::size_t>(r)], column_bounds[static_cast<std::size_t>(c)]);
        else if (r == kGap && c != kGap)
          cell.text = "⋮";
        widest = std::max(widest, width_of(cell.text));
        result.cells.back().push_back(std::move(cell));
      }
    }
    const Index fits = (options.width - 16) / (widest + 2 * padding + 1);
    if (std::ssize(result.columns) <= fits || limit <= 3) return result;
    limit = std::max<Index>(3, std::min(fits, limit - 1));
  }
}

Style fill_of(const Cutting& source, std::span<const RankId> holders) {
  return holders.empty() ? Style{} : Style{.background = colour_of(source.place_of(holders.front())).xterm};
}

Picture finish(Boxes boxes, Cells cells, Index row_count, Index column_count) {
  Picture picture;
  picture.left_out = left_out_text(cells.rows, row_count, cells.columns, column_count);
  boxes.cells = std::move(cells.cells);
  picture.canvas = draw(boxes);
  return picture;
}

std::string cuts_text(const Bounds& rows, const Bounds& columns) {
  const auto cuts = [](const Bounds& bounds, std::string_view noun) {
    const Index inside = std::ssize(bounds) - 2;
    return fmt::format("{} {} cut{}", inside, noun, inside == 1 ? "" : "s");
  };
  return fmt::format("target cut lines ({} + {})", cuts(rows, "row"), cuts(columns, "col"));
}

}  // namespace

Picture cutting_picture(const Cutting& cutting, const Frame& frame, const ShowOptions& options, bool coloured) {
  const Bounds rows = along(cutting.bounds(), frame.row_dim), columns = along(cutting.bounds(), frame.column_dim);
  const int padding = 1;
  Cells cells = fill(rows, columns, options, padding, [&](Index row, Index column) {
    const auto holders = cutting.holders(corner_of(frame, cutting.layout().dims(), row, column));
    return BoxCell{holders.empty() ? "-" : ranks_text(holders, kRanksWidth),
                   coloured ? fill_of(cutting, holders) : Style{}};
  });
  const auto light = [](Index) { return Line::light; };
  Boxes boxes{.row_lines = lines_of(cells.rows, rows, light), .column_lines = lines_of(cells.columns, columns, light)};
  boxes.padding = padding;
  if (frame.row_dim) boxes.row_notes = ranges_of(cells.rows, rows);
  if (frame.column_dim) boxes.column_notes = ranges_of(cells.columns, columns);
  return finish(std::move(boxes), std::move(cells), std::ssize(rows) - 1, std::ssize(columns) - 1);
}

Picture stamp_picture(const Explained& explained, const Frame& frame, const ShowOptions& options, Lines lines,
                      Note note) {
  const Cutting& source = explained.source;
  const CommonGrid& grid = explained.move->grid;
  const Bounds rows = along(grid.bounds, frame.row_dim), columns = along(grid.bounds, frame.column_dim);
  Cells cells = fill(rows, columns, options, 0, [&](Index row, Index column) {
    const auto corner = corner_of(frame, source.layout().dims(), row, column);
    return BoxCell{stamp_text(source, grid, corner), fill_of(source, source.holders(corner))};
  });
  const auto lines_along = [&](const std::vector<Index>& shown, const Bounds& bounds, std::optional<int> dim) {
    const Bounds cuts = along(explained.move->target.bounds(), dim);
    return lines_of(shown, bounds, [&](Index at) {
      if (lines == Lines::grid) return Line::light;
      return std::ranges::binary_search(cuts, at) ? Line::heavy : Line::none;
    });
  };
  Boxes boxes{.row_lines = lines_along(cells.rows, rows, frame.row_dim),
              .column_lines = lines_along(cells.columns, columns, frame.column_dim)};
  const auto& cuts = explained.move->target.bounds();
  const std::string text = cuts_text(along(cuts, frame.row_dim), along(cuts, frame.column_dim));
  const bool beside = note == Note::beside && std::ranges::find(boxes.row_lines, Line::heavy) != boxes.row_lines.end();
  const bool cut = along(cuts, frame.row_dim).size() + along(cuts, frame.column_dim).size() > 4;
  if (lines == Lines::target && beside) boxes.heavy_note = "← " + text;
  Picture picture = finish(std::move(boxes), std::move(cells), std::ssize(rows) - 1, std::ssize(columns) - 1);
  if (lines == Lines::target && cut && !beside) picture.canvas.put(picture.canvas.height(), 0, "┃ ━ " + text);
  return picture;
}

}  // namespace reshard::cli
