// What a move costs by this library's plan, beside what it costs the ways other systems move a sharded tensor.
//
// The others are models, pure functions of two layouts on one mesh; nothing runs. DTensor and the permute family walk
// through placements, one collective at a time, so they may carry elements that nobody asked for, or carry one twice.
//
//   direct             plan(): each rank gets what it lacks straight from an owner, which is the lower bound
//   permute_family     fewest bytes by slice, permute, all-to-all and all-gather, where no placement on the way takes
//                      more memory than the larger of the two shards (Rink et al., Shardy)
//   dtensor_graph      fewest bytes by DTensor's moves: slice, all-to-all, all-gather; of the axes that cut a dimension
//                      only the last may leave, and it cuts last where it comes to. A bound for DTensor's own search,
//                      whatever weights its edges have
//   dtensor_greedy     DTensor's default: mesh axes from last to first, then what still differs from first to last
//   gather_then_slice  every target rank gets the whole tensor and keeps its part
//
// Bytes are those that reach a rank from another one; a slice costs none. DTensor pads a shard that is too short to the
// length of the first one and moves the padding too. Link speed, latency, overlap and pending values are not modelled.
//
// Thread rule: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

enum class Mover { direct, permute_family, dtensor_graph, dtensor_greedy, gather_then_slice };
std::string_view name_of(Mover mover);

// exchange: each rank with whom it needs to; the others: the ranks of a line along one mesh axis, all lines at once, or
// the whole mesh where no axis is named.
enum class Collective { exchange, slice, permute, all_to_all, all_gather };
std::string_view name_of(Collective collective);

struct MoverStep {
  Collective collective = Collective::exchange;
  std::string axis;        // empty: all ranks at once
  std::string placements;  // after the step, as in Comparison; empty where no placement says what ranks hold
  Index received = 0;      // bytes, over all ranks
  friend bool operator==(const MoverStep&, const MoverStep&) = default;
};

struct MoverCost {
  Mover mover = Mover::direct;
  std::string refused = {};  // why this way cannot do the move; then the rest is empty
  std::vector<MoverStep> steps = {};
  Index received = 0;                        // bytes, over all ranks
  Index padding = 0;                         // of them, bytes that are no elements of the tensor
  std::vector<Index> received_by_rank = {};  // bytes, along Comparison::ranks
  Index peak = 0;  // bytes that the fullest rank holds during a step: its input and its output
  friend bool operator==(const MoverCost&, const MoverCost&) = default;
};

struct Comparison {
  std::vector<RankId> ranks;  // of either mesh, ascending
  Index needed = 0;           // lower bound of received: bytes of target shards that their ranks do not hold already
  Index both_shards = 0;      // bytes of source and target shard on the rank where they are most
  // One letter per mesh axis longer than 1: R, or S and the dimension it cuts; "S0[1]" takes turn 1 of those that cut
  // it, said where turns differ from the order of axes. Empty where DTensor could not say it.
  std::string source_placements;
  std::string target_placements;
  std::vector<MoverCost> movers;  // in the order of Mover
  const MoverCost& of(Mover mover) const { return movers[static_cast<std::size_t>(mover)]; }
};

// Throws as plan() does. Cost: that of plan(), O(ranks) per step, and a search over all placements of the mesh axes on
// the dimensions; a way whose search would be too large is refused in `refused`.
Comparison compare(const Layout& source, const Layout& target);

// All moves of a [rows, columns] tensor between different placements of R, S0 and S1 on the axes of one mesh. Sums are
// bytes over all pairs and ranks, as a multiple of the lower bound's sum; worst is the greatest multiple of one pair.
struct PlacementTable {
  struct Multiple {
    Index above = 0;  // pairs that receive more than the lower bound
    double sum = 1;
    double worst = 1;
    double peak = 0;  // greatest memory of a pair, as a multiple of its two shards
  };
  std::vector<Index> mesh;
  Index pairs = 0;
  Multiple direct, dtensor_greedy, dtensor_graph;
  std::optional<Multiple> permute_family;  // nothing where sizes do not divide
};

// Throws Error(invalid_argument) for an axis below 2 or no axis, Error(unsupported) for more than 4 axes or 4096 ranks.
PlacementTable compare_placements(std::span<const Index> mesh, Index rows = 64, Index columns = 64);

}  // namespace reshard
