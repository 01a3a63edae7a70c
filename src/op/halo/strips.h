// One dimension of a widened shard, in runs of cells that come from the tensor in steps.
#pragma once

#include <vector>

#include "op/halo/domain.h"

namespace reshard::halo {

struct Strip {
  Index first = 0;  // widened index
  Index length = 0;
  Index source = 0;  // cell of the tensor that the first comes from
  Index step = 1;    // -1: backwards, 0: all come from one
  bool is_ghost = false;
  bool is_constant = false;
  bool crosses = false;  // a pole
};

// Ascending, together all of the widened dimension. `shift` turns what they come from, as longitudes are turned across
// a pole.
std::vector<Strip> strips_of(const Domain& domain, const Piece& piece, std::size_t dim, Index shift = 0);

}  // namespace reshard::halo
