// Square blocks as wide as a cache line, transposed in registers.
#pragma once

#include <cstddef>

#include "reshard/index.h"

namespace reshard::kernel {

// Element j of source row i to element i of line j, for all i and j below 64 / element: `lines` are 64 bytes each, one
// after the other, at a multiple of 64; source rows are `source_stride` apart, any alignment.
using TransposeLines = void (*)(std::byte* lines, const std::byte* source, Index source_stride);

// For elements of 1, 2, 4, 8 and 16 bytes, with the best instruction set there is; null for others and without vectors.
TransposeLines transpose_lines(Index element_bytes);

}  // namespace reshard::kernel
