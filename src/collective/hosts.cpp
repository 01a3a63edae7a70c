#include "collective/hosts.h"

#include <algorithm>

namespace reshard::collective {

Hosts::Hosts(const Job& job) : host_of_(job.host_of), members_(static_cast<std::size_t>(job.hosts())) {
  for (RankId rank(0); rank < RankId(job.ranks); ++rank) {
    std::vector<RankId>& members = members_[static_cast<std::size_t>(of(rank))];
    place_.push_back(static_cast<Index>(members.size()));
    members.push_back(rank);
  }
}

Index Hosts::columns() const {
  const auto least = std::ranges::min_element(members_, {}, &std::vector<RankId>::size);
  return static_cast<Index>(least->size());
}

std::vector<RankId> Hosts::neighbours(RankId rank) const {
  const std::vector<RankId>& all = members(of(rank));
  std::vector<RankId> neighbours(all.begin() + place(rank) + 1, all.end());
  neighbours.insert(neighbours.end(), all.begin(), all.begin() + place(rank));
  return neighbours;
}

std::vector<Index> Hosts::others(Index host) const {
  std::vector<Index> others;
  for (Index i = 1; i < count(); ++i) others.push_back((host + i) % count());
  return others;
}

}  // namespace reshard::collective
