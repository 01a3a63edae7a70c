// Which unit a process writes next.
#pragma once

#include "convert/job.h"
#include "convert/shared_state.h"

namespace reshard::convert_detail {

// One per process, over counters that all share. The kernel lets one writer at a time into a file, so processes keep to
// different files while there are enough, and help each other with the last ones. Confined.
class UnitQueue {
 public:
  // Both outlive the queue.
  UnitQueue(const Units& units, SharedState& shared) : units_(units), shared_(shared) {}

  // No process is given the same unit; null when all are taken.
  const Unit* next();

 private:
  // The file with units left that the fewest processes write; -1 if there is none.
  int least_busy() const;

  const Units& units_;
  SharedState& shared_;
  int file_ = -1;  // being written
};

}  // namespace reshard::convert_detail
