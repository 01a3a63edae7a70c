// One step of a move between two layouts, ready to run.
#pragma once

#include <optional>
#include <vector>

#include "exec/host_map.h"
#include "reshard/executor.h"
#include "reshard/layout.h"
#include "reshard/plan.h"

namespace reshard {

struct Stage {
  Executor executor;
  std::vector<Index> staging_bytes;  // of every rank; empty: it needs none
  // Slots of a signal of its own; it then forwards, and its signals are ready, this one, done. 0: ready and done.
  Index arrival_slots = 0;
  std::optional<SignalId> arrived = {};
  // Rounds of its signals in one run.
  Index rounds = 1;
};

// The part of the endpoint's rank. Where several ranks that are far from the source want the same bytes, these cross
// slow links once, by the scheme that is fastest on the topology, and are forwarded. Communicates nothing.
// Cost: as redistribute_program; where ranks are on several hosts, O(transfers of all ranks).
Stage make_stage(const Layout& source, const Layout& target, const PlanOptions& options, const HostMap& map,
                 Endpoint& endpoint);

}  // namespace reshard
