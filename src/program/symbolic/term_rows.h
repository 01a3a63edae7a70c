// Terms of a reduction that stand for many: of one dimension more than its target.
#pragma once

#include <vector>

#include "program/symbolic/placed_slice.h"

namespace reshard {

// The rows of `term` along its first dimension that is not one index, where it has one dimension more than `target`;
// otherwise `term` itself. `whole` is the term as it is placed.
std::vector<PlacedSlice> term_rows(const PlacedProgram& program, RankId me, const BufferSlice& target,
                                   const BufferSlice& term, const PlacedSlice& whole);

}  // namespace reshard
