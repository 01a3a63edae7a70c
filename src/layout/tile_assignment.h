// XLA's array of devices: which device has each tile.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reshard/mesh.h"

namespace reshard {

struct TileAssignment {
  std::vector<Index> dims;  // extents of the array, slowest first
  // Either a list of devices in row-major order, ..
  std::vector<RankId> devices;
  // .. or, if it is empty, the numbers 0, 1, .. reshaped to `reshape`, transposed, and reshaped to `dims`: dimension k
  // of the transposed array is dimension transpose[k] of the one before.
  std::vector<Index> reshape;
  std::vector<int> transpose;
};

// A mesh in which the axes named "d<k>" together are dimension k, for each dimension of more than one tile. It has a
// regular form, of O(dims) whatever the number of devices, unless `dims` cuts across the transposed dimensions.
// Precondition: the product of `reshape`, or the number of devices, is that of `dims`, and `transpose` is a
// permutation.
Mesh mesh_of(const TileAssignment& tiles);
std::string tile_axis(std::size_t dim);

// The assignment whose dimension k are the leaf axes by_dim[k] of the mesh, slowest first; by_dim has every axis once.
TileAssignment tiles_of(const Mesh& mesh, const std::vector<std::vector<int>>& by_dim);

// "[2,1,4]<=[2,4]T(1,0)", "[4]<=[4]", "[2,2]0,3,1,2".
std::string text_of(const TileAssignment& tiles);

}  // namespace reshard
