// Two accesses that nothing orders, told as the order of them that goes wrong.
#pragma once

#include "program/check/trace.h"

namespace reshard::explore {

void describe_race(CheckReport& report, Machine& machine, const Run& run, const Finding& finding);

}  // namespace reshard::explore
