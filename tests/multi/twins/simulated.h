// Schedules to simulate.
#pragma once

#include "reshard/simulate.h"

namespace reshard::multi {

// Three calls; of odd seeds one rank is slow.
SimulateOptions schedule_of(Index ranks, std::uint64_t seed, const std::map<std::string, Index>& sizes = {});

}  // namespace reshard::multi
