// Steps of a replayed trace, as people read them.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "reshard/replay.h"

namespace reshard::cli {

// Step number `at` of them, from 0: what was done, the bytes it reached, and all counters after it.
std::string replayed_text(std::span<const ReplayedStep> steps, std::size_t at, Index ranks);

}  // namespace reshard::cli
