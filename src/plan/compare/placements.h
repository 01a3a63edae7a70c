// Placements on one mesh, as the models of other systems know them: which axes cut which dimension, in which order, by
// the chunk rule.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

// What all placements of one comparison share.
struct TensorOnMesh {
  std::vector<Index> shape;
  std::vector<Axis> axes;  // longer than 1
  Index element_bytes = 1;
  Index ranks() const;
  // Row-major over `axes`.
  Coordinate coordinate_at(Index ordinal) const;
};

struct Placements {
  std::vector<std::vector<int>> dims;  // per dimension the axes that cut it, first to cut first
  friend auto operator<=>(const Placements&, const Placements&) = default;
  // The dimension that `axis` cuts, or -1.
  int dim_of(int axis) const;
  // Axes that cut a dimension stand in ascending order, as DTensor's placements without turns have them.
  bool in_axis_order() const;
};

// Elements of the chunk that `coordinate` has of `n`, cut by `axes` one after another.
struct ChunkRange {
  Index begin = 0;
  Index length = 0;
  friend bool operator==(const ChunkRange&, const ChunkRange&) = default;
};
ChunkRange chunk_of(const TensorOnMesh& tensor, Index n, std::span<const int> axes, std::span<const Index> coordinate);
ChunkRange chunk_of(const TensorOnMesh& tensor, const Placements& placements, int dim,
                    std::span<const Index> coordinate);

Index local_elements(const TensorOnMesh& tensor, const Placements& placements, std::span<const Index> coordinate);
// Of the fullest rank, which is the first.
Index greatest_elements(const TensorOnMesh& tensor, const Placements& placements);
// Every dimension is a multiple of the product of its axes.
bool divides(const TensorOnMesh& tensor, const Placements& placements);

// "(S0,R)"; "(S0[1],S0[0])" where turns differ from the order of axes.
std::string text_of(const TensorOnMesh& tensor, const Placements& placements);

// How many placements there are, and all of them, sorted. The number stops counting at `most`.
Index count_placements(const TensorOnMesh& tensor, Index most);
std::vector<Placements> all_placements(const TensorOnMesh& tensor);

}  // namespace reshard
