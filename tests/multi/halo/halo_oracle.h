// What every cell of widened shards must be, cell by cell, by walking over the edges of the tensor one step at a time.
//
// Shares with the library the description of layouts and halos only: who holds what is from oracle/ownership.
#pragma once

#include <vector>

#include "reshard/halo.h"

namespace reshard::halo_oracle {

// Where a cell of a widened buffer gets its value.
struct Cell {
  bool is_constant = false;
  double value = 0;   // constant
  Index origin = -1;  // linear index in the tensor
  int sign = 1;
  bool is_own = false;
  std::vector<Index> local;  // widened indices
  Index address = 0;         // in the widened buffer
};

// One rank that holds the tensor, in the order of the mesh.
struct Shard {
  Index rank = 0;
  Index group = 0;             // ranks that agree on all axes that cut nothing
  std::vector<Index> own;      // at each address of the buffer: the linear index, or oracle::hole
  std::vector<Index> extents;  // widened
  std::vector<Cell> cells;     // row-major
  Index buffer = 0;            // elements of the widened buffer
};

std::vector<Shard> shards_of(const Layout& in, const Halo& halo, const Layout& out);

// Of boxes, one to a rank, stored row-major.
struct OwnBox {
  Index rank = 0;
  std::vector<Index> begin, length;
};
std::vector<Shard> shards_of(const std::vector<Index>& shape, const std::vector<OwnBox>& boxes, const Halo& halo);

}  // namespace reshard::halo_oracle
