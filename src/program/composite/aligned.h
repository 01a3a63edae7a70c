// Two lists side by side.
#pragma once

#include <algorithm>
#include <vector>

namespace reshard {

enum class Side { both, left, right };

// The longest common subsequence, and in between what only one of the two has, the left first. O(|a| |b|).
template <class T>
std::vector<std::pair<Side, T>> aligned(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<std::pair<Side, T>> result;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      result.emplace_back(Side::both, a[i++]);
      ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      result.emplace_back(Side::left, a[i++]);
    } else {
      result.emplace_back(Side::right, b[j++]);
    }
  }
  return result;
}

}  // namespace reshard
