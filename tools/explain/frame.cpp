#include "explain/frame.h"

#include <fmt/format.h>

#include <algorithm>

namespace reshard::cli {

Frame frame_of(const std::vector<std::vector<Index>>& bounds) {
  std::vector<int> dims;
  for (int dim = 0; dim < std::ssize(bounds); ++dim) dims.push_back(dim);
  std::ranges::stable_sort(dims, std::greater{}, [&](int dim) { return bounds[static_cast<std::size_t>(dim)].size(); });
  if (dims.empty()) return {};
  if (dims.size() == 1) return {.column_dim = 0};
  return {.row_dim = std::min(dims[0], dims[1]), .column_dim = std::max(dims[0], dims[1])};
}

std::vector<Index> corner_of(const Frame& frame, int dims, Index row, Index column) {
  std::vector<Index> corner(static_cast<std::size_t>(dims), 0);
  if (frame.row_dim) corner[static_cast<std::size_t>(*frame.row_dim)] = row;
  if (frame.column_dim) corner[static_cast<std::size_t>(*frame.column_dim)] = column;
  return corner;
}

std::string hidden_text(const Frame& frame, const std::vector<std::vector<Index>>& bounds) {
  std::string text;
  for (int dim = 0; dim < std::ssize(bounds); ++dim) {
    const auto& lines = bounds[static_cast<std::size_t>(dim)];
    if (dim == frame.row_dim || dim == frame.column_dim || lines.size() <= 2) continue;
    text += fmt::format("{}dim {} is cut in {}: its part {}:{} is drawn", text.empty() ? "" : "; ", dim,
                        lines.size() - 1, lines[0], lines[1]);
  }
  return text;
}

std::string dim_name(int dim, int dims) {
  if (dims == 2) return dim == 0 ? "rows" : "cols";
  return fmt::format("dim {}", dim);
}

std::vector<Index> visible(Index count, Index limit) {
  std::vector<Index> shown;
  limit = std::max<Index>(limit, 3);
  if (count <= limit) {
    for (Index k = 0; k < count; ++k) shown.push_back(k);
    return shown;
  }
  for (Index k = 0; k < limit - 2; ++k) shown.push_back(k);
  shown.push_back(kGap);
  shown.push_back(count - 1);
  return shown;
}

Index hidden_count(const std::vector<Index>& shown, Index count) {
  return count - std::ranges::count_if(shown, [](Index k) { return k != kGap; });
}

std::string stamp_text(const Cutting& source, const CommonGrid& grid, std::span<const Index> corner) {
  const std::vector<RankId> holders = source.holders(corner);
  if (holders.empty()) return "-";
  const Index number = cell_number(grid, source.find(holders.front())->region, corner);
  const std::string copies = holders.size() > 1 ? fmt::format("+{}", holders.size() - 1) : "";
  return fmt::format("r{}{}.{}", holders.front().value(), copies, number);
}

}  // namespace reshard::cli
