// Ranks of one host that were started apart, by a launcher or by hand, and share memory all the same: each maps the
// windows of the others. What run_processes has by fork, without a common parent.
#pragma once

#include <memory>
#include <vector>

#include "reshard/exchange.h"
#include "reshard/fabric.h"

namespace reshard::fabric {

struct HostRank {
  std::vector<RankId> ranks;  // of this host, ascending: numbers in the whole world
  std::size_t here = 0;       // which of them this process is
  bool kernel_copies = true;  // as RunOptions::kernel_copies
};

// The shared memory has no name and is gone with the last process, however it ends. A rank of the host that dies is
// noticed by the others (peer_lost) within 1 s, without a parent that watches.
class JoinedHost {
 public:
  // Collective among the ranks of the host, as is `exchange`. Throws Error(io) where the system does not let processes
  // of one user reach each other's files: the ranks are then to be treated as hosts of their own.
  static std::unique_ptr<JoinedHost> join(const HostRank& host, const Exchange& exchange, CopyKernel copy,
                                          Index window_space, Clock::time_point deadline);
  virtual ~JoinedHost() = default;
  // A world of the host's ranks alone, numbered from 0 in their order; errors name them as in the whole world.
  virtual Endpoint& endpoint() = 0;
  // For whoever waits for this rank's signals and for something else as well: a doorbell that rings when a peer of the
  // host has notified this rank, or is lost.
  virtual void sleep(Clock::time_point until) = 0;
};

}  // namespace reshard::fabric
