// Every layout of replicate and shard, with every shard order, over the meshes of up to 8 ranks.
#pragma once

#include <vector>

#include "reshard/layout.h"

namespace reshard {

// Axis sizes of the 14 meshes of up to 8 ranks and up to 3 axes; no axis of size 1, except the mesh of one rank.
std::vector<std::vector<Index>> small_mesh_sizes();

// Cuts per tensor dimension: axes in the order in which they cut.
using AxisOrders = std::vector<std::vector<int>>;
// All ways to let each of `axes` mesh axes replicate or cut one of `dims` dimensions, in any order per dimension.
std::vector<AxisOrders> all_axis_orders(int axes, int dims);

struct SmallLayout {
  std::vector<Index> mesh;
  AxisOrders cuts;
  Index ranks() const;
};
std::vector<SmallLayout> all_small_layouts(int dims);

Layout layout_of(const SmallLayout& small, const std::vector<Index>& shape, RankId base);

}  // namespace reshard
