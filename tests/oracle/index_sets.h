// Who holds what of a small tensor, as one set of indices per dimension: quick to compare for hundreds of thousands of
// pairs of layouts, where lists of elements are too slow.
#pragma once

#include <bitset>
#include <map>
#include <vector>

#include "oracle/ownership.h"

namespace reshard::oracle {

// Indices along one dimension, of at most 128.
using IndexSet = std::bitset<128>;
// What one rank holds: the product of its sets. Empty for a rank outside the mesh.
using Holding = std::vector<IndexSet>;
using Holdings = std::map<Index, Holding>;  // by rank

// Throws std::logic_error for a layout that needs more to be described: a view, a tensor that exists only on some
// ranks, no dimensions, or a dimension beyond the sets.
Holdings holdings_of(const Layout& layout);

// Elements of `wanted` that `held` lacks; all of them where nothing is held.
Index missing(const Holding* held, const Holding& wanted);

}  // namespace reshard::oracle
