// What a rank receives of pending terms, sorted by the elements they are terms of.
#pragma once

#include <span>
#include <vector>

#include "plan/lift.h"
#include "reshard/plan.h"

namespace reshard {

// The transfer without its leading dimensions, which say whose term it is.
Transfer without_terms(const Transfer& transfer, std::size_t leading);

// Transfers of the same elements, one per term, in the order in which they are folded; without leading dimensions.
struct Part {
  std::vector<Transfer> terms;
};

// The parts of one rank's receives, by place in its target. Throws Error(invalid_argument) when a term is missing or
// comes twice, which no plan of plan() has.
std::vector<Part> parts_of(std::span<const Transfer> receives, const Lift& lift);

}  // namespace reshard
