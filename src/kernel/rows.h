// The innermost loop of a copy: equal rows at constant distance.
#pragma once

#include <cstddef>

#include "reshard/strided_copy.h"

namespace reshard::kernel {

// Copies loop.count rows of row_bytes.
using RowLoop = void (*)(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes);

// The loop for rows of this length. `stream`: long rows bypass the cache; call finish_streaming() after the last.
RowLoop row_loop_for(Index row_bytes, bool stream);
// Orders streaming stores before whatever the caller stores next.
void finish_streaming();

}  // namespace reshard::kernel
