// What signals hold between calls, against what their protocols promise and their width allows.
#pragma once

#include <span>

#include "program/check/machine.h"

namespace reshard::explore {

// Of a run that ended, by all its steps: adds to machine.findings. What a call adds to a cell that is only added to
// does not depend on the run, so neither does the verdict.
void check_contract(Machine& machine, std::span<const StepRecord> run, const State& end);
// Credits of cells whose end depends on the order of the run.
void check_final_values(Machine& machine, const State& end);

}  // namespace reshard::explore
