// Which bytes slices select.
#pragma once

#include <vector>

#include "program/symbolic/placed_slice.h"

namespace reshard {

// [from, to) of an allocation of one rank.
struct SliceBytes {
  Index from = 0;
  Index to = 0;
};

// Ascending, neighbours joined. Nothing for slices of more than 65,536 rows, and for empty ones.
std::vector<SliceBytes> bytes_of_slice(const PlacedSlice& slice);
// Of one allocation and rank. Best effort: false for slices of more than 65,536 rows.
bool overlaps(const PlacedSlice& a, const PlacedSlice& b);
// Element by element in the same order.
bool same_bytes(const PlacedSlice& a, const PlacedSlice& b);

}  // namespace reshard
