// Who shares a host with whom, and who deals with other hosts.
#pragma once

#include <vector>

#include "collective/job.h"

namespace reshard::collective {

class Hosts {
 public:
  explicit Hosts(const Job& job);

  Index count() const { return static_cast<Index>(members_.size()); }
  Index of(RankId rank) const { return host_of_[static_cast<std::size_t>(rank.value())]; }
  // Ascending.
  const std::vector<RankId>& members(Index host) const { return members_[static_cast<std::size_t>(host)]; }
  // The least number of members that a host has.
  Index columns() const;
  // The place of a rank among the members of its host.
  Index place(RankId rank) const { return place_[static_cast<std::size_t>(rank.value())]; }
  RankId member(Index host, Index place) const { return members(host)[static_cast<std::size_t>(place)]; }
  // Of the same host, but `rank`.
  std::vector<RankId> neighbours(RankId rank) const;
  // All other hosts, from the next one on and around.
  std::vector<Index> others(Index host) const;
  // Who takes on `host` what `rank` of another host sends there.
  RankId partner(RankId rank, Index host) const {
    return member(host, place(rank) % static_cast<Index>(members(host).size()));
  }

 private:
  std::vector<Index> host_of_, place_;
  std::vector<std::vector<RankId>> members_;
};

}  // namespace reshard::collective
