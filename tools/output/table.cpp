#include "output/table.h"

#include <algorithm>

#include "output/numbers.h"

namespace reshard::cli {

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (std::string& heading : headings_) {
    right_.push_back(heading.ends_with('>'));
    if (right_.back()) heading.pop_back();
  }
}

std::string Table::text(int indent) const {
  std::vector<int> widths(headings_.size(), 0);
  const auto measure = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], width_of(cells[c]));
  };
  measure(headings_);
  for (const auto& row : rows_) measure(row);
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(static_cast<std::size_t>(indent), ' ');
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string blanks(static_cast<std::size_t>(widths[c] - width_of(cells[c])), ' ');
      text += (c > 0 ? "  " : "") + (right_[c] ? blanks + cells[c] : cells[c] + blanks);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  };
  line(headings_);
  for (const auto& row : rows_) line(row);
  return out;
}

}  // namespace reshard::cli
