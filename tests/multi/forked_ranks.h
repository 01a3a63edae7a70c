// Ranks as children of this process that find each other through a folder: what launchers of fabrics need whose ranks
// are processes without a common parent.
#pragma once

#include <functional>
#include <vector>

#include "reshard/exchange.h"
#include "reshard/ranks.h"

namespace reshard::multi {

// What a child does: it joins the world and runs the body. An exception that leaves it is its outcome.
using RankMain = std::function<void(RankId, const Exchange&)>;

// One outcome per rank. As with processes of the library: once a rank has failed the others have `grace` to end, what
// ranks print appears once, exit handlers do not run, and children die with their parent.
// Throws Error(invalid_argument) for ranks < 1.
std::vector<RankOutcome> try_forked(Index ranks, const RankMain& main, std::chrono::milliseconds grace);

}  // namespace reshard::multi
