// Whether what ranks send is what other ranks receive, where the two were worked out apart: by other processes, other
// versions, or with other options. A pair of ranks that does not agree waits for ever, or reads the wrong elements.
#pragma once

#include <span>
#include <vector>

#include "reshard/plan.h"

namespace reshard {

// Compares lists as plan_sends and plan_receives make them, of any ranks in any order: for each pair of ranks the same
// number of transfers, of the same spans in the same order. Each fault names a pair; none if all agree. Leave out pairs
// of which only one end was asked.
// Cost: O(n log n). Thread rule: pure function.
std::vector<Fault> check_agreement(std::span<const Transfer> sends, std::span<const Transfer> receives);

}  // namespace reshard
