// The processes of a world, seen by their parent: started, watched, reaped.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

#include "fabric/host/world_state.h"

namespace reshard::fabric {

// Thread rule: confined. Kills and reaps what still runs when it ends, so that an exception leaves no process behind.
class Children {
 public:
  explicit Children(WorldState& world) : world_(world) {}
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  // Forks the next rank, which runs `main` and must not return from it. Throws Error(io).
  void start(const std::function<void()>& main);
  // Returns when all have ended. Records the fate of each that did not record its own; the others' waits then end.
  // Once one has failed, the others have `grace` to end before they are killed.
  void wait_all(std::chrono::milliseconds grace);

 private:
  struct Child {
    pid_t pid = -1;
    int pidfd = -1;  // -1: this kernel has none, and the child is polled
    bool is_running = true;
    bool is_abandoned = false;
  };
  bool any_running() const;
  // Sleeps until a child ends or the time is up.
  void wait_for_news(Clock::time_point until);
  void reap();
  void kill_running();
  void record_death(std::size_t rank, int status);

  WorldState& world_;
  std::vector<Child> children_;
};

}  // namespace reshard::fabric
