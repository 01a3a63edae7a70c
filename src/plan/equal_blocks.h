// Layouts that cut every dimension into equal blocks, one run of elements per rank: those that an m2m map can describe.
#pragma once

#include <string_view>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

struct HeldBlock {
  RankId rank;
  Index ordinal = 0;  // of the rank in its mesh
  Index block = 0;    // row-major in the grid of counts
};

struct EqualBlocks {
  std::vector<Index> counts;     // per dimension, blocks of the tensor
  std::vector<HeldBlock> ranks;  // those that hold one, in order of the mesh
};

// Throws Error(unsupported) that names side, dimension, axis and the way out. Cost: O(ranks).
EqualBlocks equal_blocks(const Layout& layout, std::string_view side);

}  // namespace reshard
