#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"
#include "reshard/megatron.h"

namespace reshard::megatron {

struct RankGroup::List {
  std::vector<RankId> ranks;
  std::vector<std::pair<RankId, Index>> by_rank;  // ascending
};

RankGroup::RankGroup(std::vector<RankId> ranks) {
  if (ranks.empty()) return;
  List list;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (ranks[k].value() < 0) fail(Code::invalid_argument, "group: rank {} is negative", ranks[k].value());
    list.by_rank.emplace_back(ranks[k], static_cast<Index>(k));
  }
  std::ranges::sort(list.by_rank);
  for (std::size_t k = 1; k < list.by_rank.size(); ++k)
    if (list.by_rank[k].first == list.by_rank[k - 1].first)
      fail(Code::invalid_argument, "group: rank {} is listed twice", list.by_rank[k].first.value());
  list.ranks = std::move(ranks);
  list_ = std::make_shared<const List>(std::move(list));
}

Index RankGroup::size() const { return list_ ? std::ssize(list_->ranks) : 0; }

const std::vector<RankId>& RankGroup::ranks() const {
  static const std::vector<RankId> none;
  return list_ ? list_->ranks : none;
}

std::optional<Index> RankGroup::index_of(RankId rank) const {
  if (!list_) return std::nullopt;
  const auto found = std::ranges::lower_bound(list_->by_rank, rank, {}, &std::pair<RankId, Index>::first);
  if (found == list_->by_rank.end() || found->first != rank) return std::nullopt;
  return found->second;
}

std::string RankGroup::text() const {
  std::vector<Index> values;
  for (const RankId rank : ranks()) values.push_back(rank.value());
  return fmt::format("[{}]", fmt::join(values, ","));
}

bool operator==(const RankGroup& a, const RankGroup& b) {
  return a.list_ == b.list_ || (a.list_ && b.list_ && a.list_->ranks == b.list_->ranks);
}

}  // namespace reshard::megatron
