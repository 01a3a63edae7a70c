// A transfer cut into pieces of bounded size.
#pragma once

#include <vector>

#include "reshard/plan.h"

namespace reshard {

// Pieces of at most `greatest` elements (1 at least) that together are the transfer; the slowest dimensions of `order`
// are cut first, so that pieces are as contiguous as they can be. `order` names every dimension, slowest first.
std::vector<Transfer> pieces_of(const Transfer& transfer, const std::vector<int>& order, Index greatest);

}  // namespace reshard
