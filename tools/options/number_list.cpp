#include "options/number_list.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "reshard/error.h"

namespace reshard::cli {
namespace {

constexpr Index kMost = 1'000'000;

std::optional<Index> number(std::string_view text, Index least) {
  Index value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < least) return {};
  return value;
}

}  // namespace

std::vector<Index> number_list(std::string_view option, std::string_view text, Index least) {
  const auto refuse = [&](std::string_view what) {
    throw Error(Code::invalid_argument, fmt::format("{} {}: {}", option, text, what));
  };
  std::vector<Index> numbers;
  for (std::string_view rest = text;;) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const std::size_t dash = part.find('-', 1);
    const auto first = number(part.substr(0, dash), least);
    const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1), least);
    if (!first || !last || *last < *first)
      refuse(fmt::format("expected whole numbers from {}, as in {},{} or {}-{}", least, least, least + 1, least,
                         least + 3));
    if (*last - *first >= kMost - static_cast<Index>(numbers.size())) refuse("more than a million numbers");
    for (Index value = *first; value <= *last; ++value) numbers.push_back(value);
    if (part.size() == rest.size()) return numbers;
    rest.remove_prefix(part.size() + 1);
  }
}

}  // namespace reshard::cli
