// Notices that a process of the world has ended, whoever started it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "fabric/host/duties.h"
#include "fabric/host/world_state.h"

namespace reshard::fabric {

// The kernel tells through a descriptor of each process, which also holds its number: no other process can be taken for
// it. Thread rule: confined.
class PeerWatch final : public Watch {
 public:
  explicit PeerWatch(RankId here) : here_(here) {}
  ~PeerWatch() override;
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // In the order of ranks, this process included. Throws Error(io) where the system has no such descriptors, or the
  // process is no more.
  void add(pid_t process);
  // From now on deaths are recorded here. A rank that has recorded its own end is not lost.
  void record_in(WorldState& world) { world_ = &world; }
  // Every 100 ms at most: a system call that is not worth more.
  Clock::time_point look() override;

 private:
  struct Peer {
    pid_t process = -1;
    int descriptor = -1;  // -1: this process, or an end that has been seen
  };
  void record_ended();

  RankId here_;
  WorldState* world_ = nullptr;
  std::vector<Peer> peers_;
  Clock::time_point next_look_{};
};

}  // namespace reshard::fabric
