#include "reshard/agreement.h"

#include <fmt/format.h>

#include <algorithm>

namespace reshard {
namespace {

using RankPair = std::pair<RankId, RankId>;
RankPair pair_of(const Transfer* transfer) { return {transfer->source, transfer->target}; }

// RankPair by pair; the transfers of a pair in the order in which the list has them.
std::vector<const Transfer*> by_pair(std::span<const Transfer> transfers) {
  std::vector<const Transfer*> sorted;
  for (const Transfer& transfer : transfers) sorted.push_back(&transfer);
  std::ranges::stable_sort(sorted, {}, pair_of);
  return sorted;
}

// The transfers of one pair: [first, last) of a sorted list.
using Part = std::span<const Transfer* const>;

Part part_of(std::span<const Transfer* const> sorted, const RankPair& pair) {
  const auto first = std::ranges::lower_bound(sorted, pair, {}, pair_of);
  return {first, std::ranges::upper_bound(first, sorted.end(), pair, {}, pair_of)};
}

std::string spans_text(const std::vector<Span>& spans) {
  std::string text;
  for (const Span& span : spans)
    text +=
        fmt::format("{}{} > {} +{}", text.empty() ? "" : ", ", span.source.value(), span.target.value(), span.length);
  return text.empty() ? "nothing" : text;
}

std::string difference(const Transfer& sent, const Transfer& received) {
  if (sent.dims.size() != received.dims.size())
    return fmt::format("{} dimensions are sent and {} received", sent.dims.size(), received.dims.size());
  const auto dim = static_cast<std::size_t>(std::ranges::mismatch(sent.dims, received.dims).in1 - sent.dims.begin());
  return fmt::format("along dimension {} the sender has {} and the receiver {} (source > target +length)", dim,
                     spans_text(sent.dims[dim]), spans_text(received.dims[dim]));
}

void compare(const RankPair& pair, Part sent, Part received, std::vector<Fault>& faults) {
  const auto fault = [&](const std::string& what) {
    faults.push_back({fmt::format("ranks {} -> {}: {}", pair.first.value(), pair.second.value(), what)});
  };
  if (sent.size() != received.size())
    return fault(fmt::format("{} sent, {} received; both ends must plan with the same layouts and options", sent.size(),
                             received.size()));
  for (std::size_t k = 0; k < sent.size(); ++k)
    if (*sent[k] != *received[k]) fault(fmt::format("transfer {}: {}", k, difference(*sent[k], *received[k])));
}

}  // namespace

std::vector<Fault> check_agreement(std::span<const Transfer> sends, std::span<const Transfer> receives) {
  const std::vector<const Transfer*> sent = by_pair(sends), received = by_pair(receives);
  std::vector<RankPair> pairs;
  for (const auto* list : {&sent, &received})
    for (const Transfer* transfer : *list) pairs.push_back(pair_of(transfer));
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  std::vector<Fault> faults;
  for (const RankPair& pair : pairs) compare(pair, part_of(sent, pair), part_of(received, pair), faults);
  return faults;
}

}  // namespace reshard
