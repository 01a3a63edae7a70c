// A transfer as a run of bytes without gaps: its elements row-major over what each dimension moves.
#pragma once

#include <vector>

#include "reshard/program.h"

namespace reshard {

// From a buffer stored as `source` to `offset` (bytes, a multiple of element_bytes) of a dense buffer, and from there
// to a buffer stored as `target`.
std::vector<Block> packing_blocks(const Transfer& transfer, Index element_bytes, const LocalStorage& source,
                                  Index offset);
std::vector<Block> unpacking_blocks(const Transfer& transfer, Index element_bytes, Index offset,
                                    const LocalStorage& target);

}  // namespace reshard
