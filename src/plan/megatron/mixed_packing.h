// What a side that is cut without partition sizes means, where another side has them.
#pragma once

#include "plan/megatron/holdings.h"

namespace reshard::megatron {

// Decides it for one tensor, and makes the forms say so. Throws Error(unsupported) that shows both readings where they
// differ and `mixed` is `refuse`, also where two lists of sizes divide the tensor differently.
void settle_packing(Holdings& sources, std::vector<Holdings>& targets, MixedPacking mixed);

}  // namespace reshard::megatron
