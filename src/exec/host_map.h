// Where the ranks of a world are, in the forms that plans and programs ask for.
#pragma once

#include <optional>

#include "reshard/fabric.h"
#include "reshard/plan.h"
#include "reshard/program.h"
#include "reshard/topology.h"

namespace reshard {

class HostMap {
 public:
  // `given` describes the cluster; without it, hosts as the fabric says, and links like those of one rack.
  // Throws Error(invalid_argument) when it lacks ranks of the world.
  HostMap(const Endpoint& endpoint, const std::optional<Topology>& given);

  const RankHosts& hosts() const { return hosts_; }
  // Nothing where all ranks are alike, on one host: there is nothing to forward.
  const std::optional<Topology>& topology() const { return topology_; }
  // With hosts, where the caller has said nothing of them and they are regular.
  PlanOptions completed(PlanOptions options) const;

 private:
  RankHosts hosts_;
  std::optional<Topology> topology_;
};

}  // namespace reshard
