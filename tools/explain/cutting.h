// How one layout divides its tensor: where it is cut, and who holds what lies between.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reshard/layout.h"

namespace reshard::cli {

// What one rank of the mesh holds.
struct Holding {
  RankId rank;
  Coordinate coordinate;
  Region region;
};

// Immutable. Costs time and memory for every rank of the mesh.
class Cutting {
 public:
  // Throws Error(unsupported) for a mesh of more than 2^18 ranks.
  explicit Cutting(const Layout& layout);

  const Layout& layout() const { return layout_; }
  // In order of the mesh.
  const std::vector<Holding>& holdings() const { return holdings_; }
  // Nullptr for a rank outside the mesh.
  const Holding* find(RankId rank) const;
  // Number of the rank in its mesh; -1 outside.
  Index place_of(RankId rank) const;
  // The least rank that holds the same as `rank`, for what copies have in common, as their colour.
  RankId first_copy(RankId rank) const;
  // Per dimension: 0, every place where the tensor is cut, and its extent. Just {0} for extent 0.
  const std::vector<std::vector<Index>>& bounds() const { return bounds_; }
  // Parts along a dimension, if they are all equal and cover it; 0 if not.
  Index equal_parts(int dim) const;
  // Who holds the element, in order of ranks.
  std::vector<RankId> holders(std::span<const Index> element) const;
  // Ranks of the mesh that hold no element, in order.
  std::vector<RankId> empty_ranks() const;

 private:
  Layout layout_;
  std::vector<Holding> holdings_;
  std::vector<std::pair<RankId, Index>> by_rank_;  // rank, place; sorted
  std::vector<std::vector<Index>> bounds_;
  // Ranks with equal segments along a dimension share a class.
  std::vector<std::vector<Segments>> classes_;  // per dimension
  std::vector<std::vector<int>> class_of_;      // per dimension, per place; -1 = not held
};

// "[0:2, 4:6+8:10]"; "[]" for a 0-d tensor; long lists of segments are cut short.
std::string slice_text(std::span<const Segments> dims);
// "y=0 x=1"; "-" for a mesh without axes.
std::string coordinate_text(const Mesh& mesh, const Coordinate& coordinate);

}  // namespace reshard::cli
