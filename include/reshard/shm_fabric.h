// Ranks as processes of this host over shared memory: each byte is copied once, from the source's window to its place.
//
// All windows lie in one anonymous memory file that is mapped before the ranks are forked: there are no names to
// collide or to leak, and the memory is gone when the last process is. Linux only.
//
// Cost: as for threads. Starting a world costs one fork per rank; a window is touched once, at creation (about 1.5 us
// per 4 KiB page), so create windows once and reuse them.
#pragma once

#include <vector>

#include "reshard/ranks.h"

namespace reshard {

// Forks one child per rank, runs `body` in each and returns when all have ended. A child inherits all of the parent's
// memory; what it changes outside windows stays in the child. It ends without running the parent's exit handlers.
//
// Throws the failure that first_failure names: the Error of a body with its code and message (any other exception
// becomes Error(internal) with its text), or Error(peer_lost) that names the rank and the signal that killed it. Waits
// of the surviving ranks end with Error(peer_lost) within 1 s of a death, normally within milliseconds. If this process
// dies, so do the ranks. Call from a process without other threads: the child has none of them, and locks they held
// stay locked.
// Throws Error(invalid_argument) for ranks < 1, Error(io) when memory or processes cannot be had.
void run_processes(Index ranks, const RankBody& body, const RunOptions& options = {});

// As above, but reports instead of throwing: one outcome per rank.
std::vector<RankOutcome> try_processes(Index ranks, const RankBody& body, const RunOptions& options = {});

}  // namespace reshard
