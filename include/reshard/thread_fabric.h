// Ranks as threads of this process: the default for tests and simulated devices. Any number of ranks, more than cores
// included: waits yield, then sleep in the kernel.
//
// Cost: notify is one atomic update of the peer's cell, plus a system call if the peer sleeps; put and get are one copy
// by the caller. A second run of the same operations allocates nothing.
#pragma once

#include <vector>

#include "reshard/ranks.h"

namespace reshard {

// Runs `body` once per rank, each on its own thread, and returns when all have ended. Rethrows the exception that
// first_failure names, as it was thrown. When a rank throws, waits of the others end at once with Error(peer_lost)
// that names it; a rank that neither waits nor ends holds up the return.
// Throws Error(invalid_argument) for ranks < 1.
void run_threads(Index ranks, const RankBody& body, const RunOptions& options = {});

// As above, but reports instead of throwing: one outcome per rank.
std::vector<RankOutcome> try_threads(Index ranks, const RankBody& body, const RunOptions& options = {});

}  // namespace reshard
