// What a run that can go no further says about itself.
#pragma once

#include <string>
#include <vector>

#include "program/simulate/calls.h"
#include "program/simulate/cells.h"
#include "program/simulate/memory.h"
#include "program/simulate/progress.h"

namespace reshard::simulation {

struct Standstill {
  const Program& program;
  Calls& calls;
  Index last_call;
  const std::vector<Progress>& progress;
  SimulatedCells& cells;
  SimulatedMemory& memory;
};

// Ranks that wait for ever, in order. Empty if all have finished.
std::vector<Stuck> stuck_ranks(const Standstill& at);

// One paragraph; empty if nothing is wrong.
std::string message_of(const SimulateReport& report, const std::string& first_mismatch);

}  // namespace reshard::simulation
