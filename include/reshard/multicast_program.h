// Hops as a program of one-sided reads, and writes between hosts.
//
// Windows: 0 = "source", 1 = "target". Signals: 0 = "ready" and 2 = "done", one slot per rank, 1 = "arrived", one slot
// per forwarded hop into a rank. A rank reads each hop straight into its target window: from the sender's source window
// once the sender is ready, or from its target window once the hop that brought the data there has arrived. When a run
// returns, the rank's target is complete, and nobody will read its source or target of this run any more.
//
// Cost of a rank, besides copies within it: one get per hop into it; a notification "arrived" per hop that waits for
// one of these, and a wait per hop into it that forwards; per peer whose source it reads a wait "ready", per peer it
// reads at all a notification "done", and the reverse of both at the peer. No memory besides source and target.
#pragma once

#include "reshard/multicast.h"
#include "reshard/program.h"

namespace reshard {

// Of all ranks. Throws Error(invalid_argument) when the world lacks a rank.
Program multicast_program(const Multicast& multicast, Index world_ranks, const RankHosts& hosts = {});
// Only the operations of `rank`; operations of other ranks are empty. Cost: O(hops), blocks of the rank's own only.
Program multicast_program(const Multicast& multicast, RankId rank, Index world_ranks, const RankHosts& hosts = {});

}  // namespace reshard
