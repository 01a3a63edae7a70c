// The innermost loop of a copy: equal rows at constant distance.
#pragma once

#include <cstddef>

#include "reshard/strided_copy.h"

namespace reshard::kernel {

// Copies loop.count rows of row_bytes.
using RowLoop = void (*)(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes);

// How rows of a large job bypass the cache: not at all, from a length on where their ends cost less than is saved, or
// at any length because every row is whole cache lines of the target.
enum class Streaming { none, rows, lines };

// The loop for rows of this length, at least 1. After the last of those that bypass the cache call finish_streaming().
RowLoop row_loop_for(Index row_bytes, Streaming streaming);
// Orders streaming stores before whatever the caller stores next.
void finish_streaming();

}  // namespace reshard::kernel
