// What one operation adds to a rank's card.
#pragma once

#include "reshard/simulate.h"

namespace reshard::simulation {

// Not rounds. Nothing for a deferred operation.
void count_cost(const Operation& operation, RankId rank, CostCard::Rank& cost);

}  // namespace reshard::simulation
