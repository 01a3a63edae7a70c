// Derives one rank's transfers from the two layouts; the one place where the rules of planning stand.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "plan/copies.h"
#include "plan/lift.h"
#include "reshard/plan.h"

namespace reshard {

// Confined. Remembers the copies of the shards it has met, so asking for many ranks costs each shard once.
class Planner {
 public:
  // The layouts and options must outlive the planner. Throws as plan() does.
  Planner(const Layout& source, const Layout& target, const PlanOptions& options);
  Planner(const Planner&) = delete;

  std::vector<Transfer> receives(RankId rank);
  std::vector<Transfer> sends(RankId rank);

 private:
  const Copies& copies_of(const Coordinate& source_coordinate);
  std::vector<Transfer> sends_of_all(RankId rank, const Coordinate& coordinate);
  std::vector<Transfer> sends_of_copy(RankId rank, const Coordinate& coordinate);

  const std::optional<Lift> lifted_;
  const Layout& source_;  // those given, or lifted
  const Layout& target_;
  const PlanOptions& options_;
  std::vector<int> source_free_;
  bool has_copies_;
  std::map<Coordinate, std::unique_ptr<Copies>> copies_;  // by coordinate with the free axes at 0
};

}  // namespace reshard
