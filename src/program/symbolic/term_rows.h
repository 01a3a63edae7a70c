// Terms of a reduction that stand for many: of one dimension more than its target.
#pragma once

#include <vector>

#include "program/symbolic/placed.h"

namespace reshard {

// The rows of `term` along its first dimension that is not one index, where it has one dimension more than `target`;
// otherwise `term` itself.
std::vector<BufferSlice> term_rows(const PlacedProgram& program, RankId me, const BufferSlice& target,
                                   const BufferSlice& term, const Scope& scope, ElementReader* reader);

}  // namespace reshard
