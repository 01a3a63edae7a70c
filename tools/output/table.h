// Columns that line up.
#pragma once

#include <string>
#include <vector>

namespace reshard::cli {

class Table {
 public:
  // A heading that ends with '>' aligns its column to the right.
  explicit Table(std::vector<std::string> headings);
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // Every line indented by `indent`, without trailing blanks.
  std::string text(int indent = 3) const;

 private:
  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace reshard::cli
