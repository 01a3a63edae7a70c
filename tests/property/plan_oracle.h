// Judges a plan element by element, by what the oracle says each rank holds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "oracle/layout_check.h"
#include "reshard/plan.h"

namespace reshard::oracle {

// Every element that a plan moves wrongly: not held by its sender, put in a wrong place, written twice or never, or
// sent to a rank that holds it; and bytes that differ from the lower bound. Needs ranks below 64.
std::vector<std::string> plan_faults(const Plan& plan, const Side& source, const Side& target);

// Memory of all ranks, addressed as stored.
using Buffers = std::map<Index, std::vector<Index>>;
// What the ranks hold when every element is `element * 7 + salt`; holes are `poison`.
Buffers stamped(const Side& side, Index salt);
Buffers poisoned(const Side& side);
inline constexpr Index poison = -77;
void apply(const Plan& plan, const Side& source, const Side& target, const Buffers& from, Buffers& to);

// Fewest elements that must reach other ranks: target elements that their rank does not hold already.
Index lower_bound_elements(const Side& source, const Side& target);

}  // namespace reshard::oracle
