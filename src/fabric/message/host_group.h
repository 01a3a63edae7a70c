// How ranks that have a way to exchange texts, but no wire yet, find out who shares a host, and join there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/message/neighbours.h"
#include "fabric/shm/joined_host.h"

namespace reshard::fabric {

struct HostGroup {
  std::vector<Index> hosts;                  // number of the host of each rank of the world
  std::unique_ptr<JoinedHost> host{};        // with the other ranks of the host; null where there are none
  std::unique_ptr<Neighbours> neighbours{};  // the same, where the world has other hosts

  bool is_whole_world() const { return host != nullptr && neighbours == nullptr; }
};

struct HostGroupOptions {
  RankId rank = {};
  std::string identity = {};  // see host_identity
  CopyKernel copy = nullptr;
  Index window_space = 0;
};

// Collective, as is `exchange`. Where the system does not let the ranks of a host share memory, each becomes a host of
// its own.
HostGroup join_hosts(const HostGroupOptions& options, const Exchange& exchange, Clock::time_point deadline);

}  // namespace reshard::fabric
