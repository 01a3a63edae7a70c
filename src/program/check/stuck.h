// Ranks that wait for ever: for what, and whose notification is missing.
#pragma once

#include "program/check/trace.h"

namespace reshard::explore {

void describe_stuck(CheckReport& report, Machine& machine, const Run& run, const State& end);

}  // namespace reshard::explore
