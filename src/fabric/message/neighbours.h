// The ranks of one's own host, where a world has several: reached through shared memory, all others by the wire.
#pragma once

#include <string>
#include <vector>

#include "fabric/shm/joined_host.h"

namespace reshard::fabric {

class Neighbours {
 public:
  // Collective among the ranks of the host, whose numbers in the whole world are `ranks`, ascending, `here` among them.
  Neighbours(JoinedHost& host, std::vector<RankId> ranks, RankId here, Index world, Clock::time_point deadline);

  bool has(RankId rank) const { return local_[static_cast<std::size_t>(rank.value())] >= 0; }
  // Number of the rank in the world of the host.
  RankId local(RankId rank) const { return RankId(local_[static_cast<std::size_t>(rank.value())]); }
  Endpoint& endpoint() const { return host_.endpoint(); }
  void sleep(Clock::time_point until) { host_.sleep(until); }

  // Collective calls of the host block without serving the wire, so all of its ranks meet before: then none of them
  // waits any more for something that only the wire brings. arrive(), then serve until all_are_here().
  void arrive();
  bool all_are_here() const;

  // Who is lost and why, as the host tells it; empty while all are well.
  std::string lost() const;

 private:
  JoinedHost& host_;
  std::vector<RankId> ranks_;
  std::vector<Index> local_;  // by rank of the world; -1: on another host
  RankId here_;
  SignalId met_;
  std::uint64_t meetings_ = 0;
};

}  // namespace reshard::fabric
