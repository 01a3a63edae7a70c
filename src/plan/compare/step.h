// One collective between two placements, and what it costs.
#pragma once

#include "plan/compare/placements.h"
#include "reshard/compare.h"

namespace reshard {

struct Step {
  Collective collective = Collective::slice;
  int axis = -1;  // -1: permute
  int from = -1;  // the dimension that `axis` cuts before; -1: none
  int to = -1;    // and after
  Placements before;
  Placements after;
};

// `axis` leaves the dimension that it cuts, where it must be the last to cut, and cuts `to` as its last; -1: none.
Step step_of(const Placements& before, int axis, int to);
Step permute_of(const Placements& before, const Placements& after);

// Of one rank, in elements.
struct StepCost {
  Index received = 0;
  Index padding = 0;  // of received
  Index buffers = 0;  // input and output, with their padding
};
// An all-gather brings the padded shards of all others in the line, an all-to-all a padded part of each of them, and a
// permute a whole shard to each rank that does not have the right one yet.
StepCost cost_at(const TensorOnMesh& tensor, const Step& step, std::span<const Index> coordinate);
// The same over all ranks, without asking each: received, and the buffers of the fullest. Not for permutes.
// Chunks of one dimension depend on the axes that cut it only, so the sum is a product over dimensions.
StepCost cost_over_ranks(const TensorOnMesh& tensor, const Step& step);

}  // namespace reshard
