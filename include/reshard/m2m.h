// The m2m map: a move between two layouts as cells of their common grid, the shape-independent form of a plan.
//
// The middle grid has, along each dimension, the least common multiple of both sides' shard counts, so each of its
// cells lies whole in one shard of either side. A shard is a grid of `slicers` cells, numbered row-major, and the map
// says for each cell of a source shard where it goes: dict[source rank][source cell] -> [(target rank, target cell)].
// It holds for every shape that both layouts cut in the same equal blocks, and it moves cells one by one: plan() merges
// them.
//
// Who sends is ETHA's rule: of the ranks that hold a cell, in ascending order, the one at the target's number in its
// mesh modulo how many they are. A target that holds the cell itself may so receive it from another rank; plan() never
// does that.
//
// A pending source (partial) is mapped as if replicated. Ranks that take part in the reduction of a cell, those that
// differ only along partial axes, then each have a route for it, without targets where they do not send.
//
// Thread rule: immutable.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

// Per dimension, a position in the grid of slicers of one shard.
using CellIndex = std::vector<Index>;

// A cell of one rank's shard, by its row-major number in the shard's grid.
struct RouteEnd {
  RankId rank;
  Index cell = 0;
  friend auto operator<=>(const RouteEnd&, const RouteEnd&) = default;
};

// By the number of other ranks that get the cell; what stays on its own rank costs no message.
//   reduce_only  no target at all: the rank only takes part in the reduction
//   one          at most one other rank
//   many         several other ranks
enum class RouteKind { reduce_only, one, many };
std::string_view name_of(RouteKind kind);

struct Route {
  RouteEnd source;
  std::vector<RouteEnd> targets;  // in order of the target mesh
  RouteKind kind() const;
  // Whether `target`, one of targets, lies on the source's own rank.
  bool is_local(const RouteEnd& target) const { return target.rank == source.rank; }
  friend bool operator==(const Route&, const Route&) = default;
};

// A mesh axis of the source along which terms are pending.
struct PartialReduction {
  int axis = 0;
  ReduceOp op = ReduceOp::sum;
  friend bool operator==(const PartialReduction&, const PartialReduction&) = default;
};

struct CellAt {
  RankId rank;
  CellIndex index;
  friend bool operator==(const CellAt&, const CellAt&) = default;
};

class M2MMap {
 public:
  M2MMap(Layout source, Layout target, std::vector<Index> source_counts, std::vector<Index> target_counts,
         std::vector<Route> routes);

  const Layout& source() const { return source_; }
  const Layout& target() const { return target_; }
  // Per dimension: parts of the tensor, and cells of one shard.
  const std::vector<Index>& source_counts() const { return source_counts_; }
  const std::vector<Index>& target_counts() const { return target_counts_; }
  const std::vector<Index>& middle() const { return middle_; }
  const std::vector<Index>& source_num_slicers() const { return source_num_slicers_; }
  const std::vector<Index>& target_num_slicers() const { return target_num_slicers_; }
  const std::vector<PartialReduction>& source_partial_reductions() const { return source_partial_reductions_; }

  // By ascending source rank, then cell: the order in which all ranks go through them.
  std::span<const Route> routes() const { return routes_; }
  CellIndex source_index(Index cell) const;
  CellIndex target_index(Index cell) const;
  // Nullptr where the rank has no route for the cell. Throws Error(invalid_argument) for an index outside the shard's
  // grid. Cost: O(log routes).
  const Route* find(RankId source, std::span<const Index> index) const;
  // All routes as dict[source rank][source cell] -> [(target rank, target cell)].
  std::map<RankId, std::map<CellIndex, std::vector<CellAt>>> dict() const;

  // One line per route, after a head with both layouts. Stable.
  std::string text() const;
  // With the field names of ETHA's M2MMap; a cell is the key "0,1".
  std::string json() const;
  friend bool operator==(const M2MMap&, const M2MMap&) = default;

 private:
  Layout source_;
  Layout target_;
  std::vector<Index> source_counts_;
  std::vector<Index> target_counts_;
  std::vector<Index> middle_;
  std::vector<Index> source_num_slicers_;
  std::vector<Index> target_num_slicers_;
  std::vector<PartialReduction> source_partial_reductions_;
  std::vector<Route> routes_;
};

// Dtypes may differ; storage order does not count. Cost: O(ranks of both meshes + output).
// Throws Error(invalid_argument) when shapes differ, and Error(unsupported) that names dimension and axis when a side
// does not cut the tensor into equal blocks of one run each (views included), for a pending target, for pending terms
// of kinds that do not commute, and for a map of more than 2^26 destinations.
M2MMap m2m_map(const Layout& source, const Layout& target);

}  // namespace reshard
