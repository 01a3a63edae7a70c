// Differences of texts, line by line.
#pragma once

#include <string>
#include <vector>

namespace reshard::cli {

// A line of both, or, as `side` says, of one: '=', '<' (the left one), '>' (the right one).
struct AlignedLine {
  char side = '=';
  std::string line;
};
// Cost: the product of the numbers of lines.
std::vector<AlignedLine> aligned_lines(const std::vector<std::string>& left, const std::vector<std::string>& right);

// Unified: lines of both behind "  ", of `before` behind "- ", of `after` behind "+ ".
std::string line_diff(const std::string& before, const std::string& after);
// Lines that begin with "-" red, with "+" green; as it is without `colour`.
std::string coloured_diff(const std::string& unified, bool colour);

}  // namespace reshard::cli
