// A plan seen as pieces: what one source shard has and one target shard wants. All ranks of the source shard hold the
// piece, and the ranks of the target shard want all of it, at the same local places; different pieces share no element.
#pragma once

#include <vector>

#include "reshard/plan.h"

namespace reshard {

struct PlanPiece {
  Index target_shard = 0;
  Index holders = 0;              // place in PlanPieces::holders
  std::size_t example = 0;        // a transfer of the plan that moves it
  std::vector<std::size_t> sent;  // transfers between two ranks, by ascending target
  std::vector<std::size_t> kept;  // transfers of a rank to itself
};

struct PlanPieces {
  std::vector<std::vector<RankId>> holders;  // per source shard, ascending
  std::vector<PlanPiece> pieces;             // by target shard, then source shard
};

// Throws Error(unsupported) for pending reductions, and for shards with more than 2^22 copies.
PlanPieces pieces_of(const Plan& plan);

}  // namespace reshard
