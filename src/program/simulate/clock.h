// The virtual clock of each rank (docs/design/simulate.md).
#pragma once

#include <optional>
#include <vector>

#include "reshard/topology.h"

namespace reshard::simulation {

class VirtualClock {
 public:
  VirtualClock(Index ranks, const std::optional<Topology>& topology);

  struct Interval {
    double begin = 0;
    double end = 0;
  };
  double now(RankId rank) const { return now_[index(rank)]; }
  // Each of these moves the rank's clock to the end of the operation.
  void work(RankId rank, Index bytes);
  void get(RankId rank, RankId from, Index bytes);
  // When the put is on its way: after the earlier puts of its rank.
  Interval put(RankId rank, RankId to, Index bytes);
  // When it is there.
  double notify(RankId rank, RankId to);
  void wait(RankId rank, double until);
  void fence(RankId rank) { wait(rank, arrived_[index(rank)]); }

 private:
  static std::size_t index(RankId rank) { return static_cast<std::size_t>(rank.value()); }
  LinkCost way(RankId from, RankId to) const;
  const std::optional<Topology>& topology_;
  std::vector<double> now_;
  std::vector<double> arrived_;  // of the last put of each rank
};

}  // namespace reshard::simulation
