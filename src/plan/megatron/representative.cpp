#include "plan/megatron/representative.h"

#include <algorithm>

#include "base/fail.h"

namespace reshard::megatron {

const Representatives::Candidates& Representatives::candidates(std::optional<Index> part) {
  const auto [entry, fresh] = known_.try_emplace(part);
  Candidates& found = entry->second;
  if (!fresh) return found;
  std::map<std::vector<RankId>, std::vector<Index>> by_group;
  for (const Index record : sources_.records()) {
    const Parameter& source = sources_.parameter(record);
    if (part && source.ep_group.index_of(source.owner) != part) continue;
    found.records.push_back(record);
    by_group[source.dp_group.ranks()].push_back(record);
  }
  for (auto& [group, records] : by_group) found.buckets.push_back(std::move(records));
  return found;
}

Index Representatives::of(const Parameter& target) {
  const Parameter& first = sources_.parameter(sources_.records().front());
  std::optional<Index> part;
  if (target.ep_group.given() && first.ep_group.size() == target.ep_group.size())
    part = target.ep_group.index_of(target.owner);
  const Candidates& found = candidates(part);
  if (found.records.empty()) {
    std::vector<RankId> ranks;
    for (const Index record : sources_.records()) ranks.push_back(sources_.parameter(record).owner);
    fail(Code::invalid_argument,
         "tensor '{}': target rank {} is part {} of {} of the experts, and none of the source ranks {} is",
         sources_.name(), target.owner.value(), *part, target.ep_group.size(), ranks_text(std::move(ranks)));
  }
  const auto own = std::ranges::lower_bound(found.records, target.owner, {},
                                            [&](Index record) { return sources_.parameter(record).owner; });
  if (own != found.records.end() && sources_.parameter(*own).owner == target.owner) return *own;
  if (found.buckets.size() == 1) return found.buckets.front().front();
  const Index buckets = std::ssize(found.buckets), rank = target.owner.value();
  const std::vector<Index>& bucket = found.buckets[static_cast<std::size_t>(rank % buckets)];
  return bucket[static_cast<std::size_t>(rank / buckets) % bucket.size()];
}

}  // namespace reshard::megatron
