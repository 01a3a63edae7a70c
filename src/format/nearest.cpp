#include "format/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace reshard {

namespace {

// Beyond this length only the beginnings are compared.
constexpr std::size_t kMaxWord = 256;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxWord);
  b = b.substr(0, kMaxWord);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::size_t> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t count) {
  std::vector<std::pair<std::size_t, std::size_t>> ranked;
  for (std::size_t i = 0; i < candidates.size(); ++i) ranked.emplace_back(edit_distance(word, candidates[i]), i);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> out;
  for (const auto& [distance, i] : ranked) {
    if (out.size() == count) break;
    const auto same = [&, place = i](std::size_t other) { return candidates[other] == candidates[place]; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back(i);
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const auto found = nearest(word, candidates, 1);
  return found.empty() ? "" : fmt::format(" (did you mean '{}'?)", candidates[found[0]]);
}

}  // namespace reshard
