// From what a run found to words and a trace.
#pragma once

#include <span>

#include "program/check/machine.h"

namespace reshard::explore {

// Fills fault, message and trace of the report from the finding that takes the fewest steps. `run` is the whole run in
// which it was found, `end` the state in which that ended. machine.findings is not empty.
void describe(CheckReport& report, Machine& machine, std::span<const StepRecord> run, const State& end);

}  // namespace reshard::explore
