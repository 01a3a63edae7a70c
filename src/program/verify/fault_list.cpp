#include "program/verify/fault_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "program/symbolic/quote.h"

namespace reshard {

void FaultList::add(std::string_view rule, std::size_t statement, const std::string& message) {
  add(rule, {statement, message, 0}, message);
}

void FaultList::add(std::string_view rule, const FaultPlace& place, const std::string& message) {
  const auto [at, added] = known_.emplace(std::tuple(std::string(rule), place.statement, place.subject), found_.size());
  if (added) found_.push_back({place.statement, std::string(rule), message});
  if (place.ranks > 0) found_[at->second].ranks.insert(place.ranks);
  faulty_.insert(place.statement);
}

bool FaultList::has(std::string_view rule, std::size_t statement) const {
  return std::ranges::any_of(found_,
                             [&](const Found& found) { return found.statement == statement && found.rule == rule; });
}

std::vector<ProgramFault> FaultList::take(const VerifyText& text, const std::vector<Index>& tried) && {
  std::ranges::stable_sort(found_, {}, &Found::statement);
  std::vector<ProgramFault> faults;
  for (Found& found : found_) {
    std::vector<Index> fine;
    for (const Index ranks : tried)
      if (!found.ranks.empty() && !found.ranks.contains(ranks)) fine.push_back(ranks);
    if (!fine.empty()) found.message += fmt::format(" (not seen with P = {})", fmt::join(fine, ", "));
    faults.push_back({std::move(found.rule), found.statement == 0 ? "" : quote(text.statement(found.statement)),
                      std::move(found.message)});
  }
  return faults;
}

}  // namespace reshard
