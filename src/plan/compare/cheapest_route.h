// The fewest bytes from one placement to others, over all placements that a set of moves leads through.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "plan/compare/step.h"

namespace reshard {

enum class MoveSet {
  dtensor,         // slice, all-to-all, all-gather
  permute_family,  // and permute, between placements that divide the tensor evenly into shards of one shape
};

// In order of weight: of two routes with equal bytes the one with fewer steps is taken, then the one with less memory.
struct RouteCost {
  Index received = 0;  // elements, over all ranks
  Index steps = 0;
  Index buffers = 0;  // elements, greatest of a step
  friend auto operator<=>(const RouteCost&, const RouteCost&) = default;
};

class MoveGraph;

// What is known from one source. Confined; refers to its graph.
class Routes {
 public:
  const RouteCost& cost(const Placements& target) const;
  std::vector<Step> steps(const Placements& target) const;

 private:
  friend class MoveGraph;
  struct Reached {
    RouteCost cost;
    int from = -1;  // number of the placements before; -1: none, or not reached
    int axis = -1;  // what moved; -1: all, by a permute
    int to = -1;
    bool final = false;
  };
  explicit Routes(const MoveGraph& graph) : graph_(graph) {}
  const MoveGraph& graph_;
  std::vector<Reached> reached_;
};

// Immutable. Memory: O(placements), and O(placements * ranks) for the permute family.
class MoveGraph {
 public:
  // Placements and ranks are as many as the caller allows.
  MoveGraph(const TensorOnMesh& tensor, MoveSet moves);
  // Through placements of at most `most_elements` on the fullest rank. The graph must outlive the result.
  Routes from(const Placements& source, Index most_elements) const;

 private:
  friend class Routes;
  int number_of(const Placements& placements) const { return numbers_.at(placements); }
  Index elements_moved(int before, int after) const;

  const TensorOnMesh& tensor_;
  MoveSet moves_;
  std::vector<Placements> placements_;
  std::map<Placements, int> numbers_;
  std::vector<Index> greatest_;                     // elements on the fullest rank
  std::vector<std::vector<int>> alike_;             // permute family: placements with shards of the same shape
  std::vector<std::vector<std::uint32_t>> blocks_;  // permute family: number of each rank's shard in the grid of shards
};

}  // namespace reshard
