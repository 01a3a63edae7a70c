// Who sees to it that a rank that dies is noticed, where no parent watches its children.
#pragma once

#include "reshard/fabric.h"

namespace reshard::fabric {

// Of one process. Thread rule: confined.
class Watch {
 public:
  virtual ~Watch() = default;
  // Called before a waiter sleeps: looks whether a rank has died, and if so records it, which ends all waits. Returns
  // when it wants to look again.
  virtual Clock::time_point look() = 0;
};

}  // namespace reshard::fabric
