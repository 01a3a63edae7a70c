// What a rank does while it waits: looks after its peers, and serves them.
#pragma once

#include "reshard/fabric.h"

namespace reshard::fabric {

// Who sees to it that a rank that dies is noticed, where no parent watches its children. Thread rule: confined.
class Watch {
 public:
  virtual ~Watch() = default;
  // Called before a waiter sleeps: looks whether a rank has died, and if so records it, which ends all waits. Returns
  // when it wants to look again.
  virtual Clock::time_point look() = 0;
};

// Who does what peers ask of this rank, where they cannot do it themselves. Thread rule: confined.
class Service {
 public:
  virtual ~Service() = default;
  // Does what can be done now. Whoever asks, or makes more possible, calls the rank (WorldState::call) afterwards.
  virtual void serve() = 0;
};

struct Duties {
  Watch* watch = nullptr;      // may be null
  Service* service = nullptr;  // may be null
};

}  // namespace reshard::fabric
