#include "output/numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace reshard::cli {

std::string bytes_text(Index bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = -1;
  while (value >= 1023.95 && unit < 5) value /= 1024, ++unit;
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

std::string count_text(Index count) {
  std::string digits = fmt::format("{}", count);
  for (Index at = std::ssize(digits) - 3; at > (count < 0 ? 1 : 0); at -= 3) digits.insert(digits.begin() + at, ',');
  return digits;
}

std::string count_text(Index count, std::string_view noun) {
  const bool sibilant = noun.ends_with("s") || noun.ends_with("x");
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : sibilant ? "es" : "s");
}

std::string seconds_text(double seconds) {
  if (seconds < 0.0995) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string time_text(double seconds) {
  if (seconds == 0) return "0";
  const auto [factor, unit] = seconds < 1e-3 ? std::pair(1e6, "us")
                              : seconds < 1  ? std::pair(1e3, "ms")
                                             : std::pair(1.0, "s");
  const double value = seconds * factor;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

std::string tuple_text(std::span<const Index> values) { return fmt::format("({})", fmt::join(values, ",")); }

std::string extents_text(std::span<const Index> extents) {
  return extents.empty() ? "scalar" : fmt::format("{}", fmt::join(extents, "×"));
}

std::string ranks_text(std::span<const RankId> ranks, std::size_t width) {
  std::string text;
  for (std::size_t k = 0; k < ranks.size();) {
    std::size_t end = k + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - k == 2) end = k + 1;
    const Index first = ranks[k].value(), last = ranks[end - 1].value();
    const std::string run = first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    if (k > 0 && text.size() + 1 + run.size() > width) return fmt::format("{}…+{}", text, ranks.size() - k);
    if (k > 0) text += ',';
    text += run;
    k = end;
  }
  return text;
}

int width_of(std::string_view utf8) {
  int width = 0;
  for (const char c : utf8) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return width;
}

}  // namespace reshard::cli
