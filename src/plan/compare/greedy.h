// DTensor's default order of steps.
#pragma once

#include <vector>

#include "plan/compare/step.h"

namespace reshard {

// One step per mesh axis whose placement differs, from the last axis to the first; then from the first to the last what
// still differs. On the way back to front an axis that shall cut a dimension replicates for now if the axes before it
// do not yet cut that dimension as they shall. A source without any shard takes the way front to back only.
// Precondition: both in_axis_order().
std::vector<Step> greedy_steps(const TensorOnMesh& tensor, const Placements& source, const Placements& target);

}  // namespace reshard
