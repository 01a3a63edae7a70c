#include "program/line_diff.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace reshard::cli {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// [i][j]: how many lines of before[i..] and after[j..] can stand beside each other.
std::vector<std::vector<std::size_t>> common_lengths(const Lines& before, const Lines& after) {
  std::vector<std::vector<std::size_t>> common(before.size() + 1, std::vector<std::size_t>(after.size() + 1, 0));
  for (std::size_t i = before.size(); i-- > 0;)
    for (std::size_t j = after.size(); j-- > 0;)
      common[i][j] = before[i] == after[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  return common;
}

}  // namespace

std::vector<AlignedLine> aligned_lines(const Lines& left, const Lines& right) {
  const auto common = common_lengths(left, right);
  std::vector<AlignedLine> lines;
  std::size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    if (i < left.size() && j < right.size() && left[i] == right[j]) {
      lines.push_back({'=', left[i++]});
      ++j;
    } else if (i < left.size() && (j == right.size() || common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back({'<', left[i++]});
    } else {
      lines.push_back({'>', right[j++]});
    }
  }
  return lines;
}

std::string line_diff(const std::string& before, const std::string& after) {
  std::string text;
  for (const auto& [side, line] : aligned_lines(lines_of(before), lines_of(after))) {
    const std::string mark = side == '<' ? "- " : side == '>' ? "+ " : line.empty() ? "" : "  ";
    text += mark + line + "\n";
  }
  return text;
}

std::string coloured_diff(const std::string& unified, bool colour) {
  if (!colour) return unified;
  std::string text;
  std::istringstream lines(unified);
  for (std::string line; std::getline(lines, line);) {
    const std::string code = line.starts_with('-') ? "31" : line.starts_with('+') ? "32" : "";
    text += code.empty() ? line + "\n" : "\x1b[" + code + "m" + line + "\x1b[0m\n";
  }
  return text;
}

}  // namespace reshard::cli
