// Job b, rows to columns on two ranks: a world's way beside raw TCP, in turns.
#pragma once

#include <string>

#include "reshard/fabric.h"

namespace reshard::bench {

// Rank 0 prints one JSON object: medians of ROUNDS rounds, and the median of the ratios of each.
// Throws Error(corrupt) when an answer is wrong.
void race_job_b(Endpoint& endpoint, const std::string& fabric, const std::string& address, int rounds);

}  // namespace reshard::bench
