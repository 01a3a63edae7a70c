// Goes through a replayed trace with whoever reads it.
#pragma once

#include <cstddef>
#include <vector>

#include "reshard/replay.h"

namespace reshard::cli {

// Prints the steps from `first` (counted from 1) on. On a terminal one at a time: Enter for the next, a number to go
// there, q to leave; otherwise all. Throws Error(invalid_argument) if there is no step `first`.
void step_through(const std::vector<ReplayedStep>& steps, Index first, Index ranks);

}  // namespace reshard::cli
