// A copy as loops over rows of contiguous bytes: the one form in which data moves, in memory and between ranks.
#pragma once

#include <cstddef>
#include <span>

#include "reshard/index.h"

namespace reshard {

// One loop of a strided copy. Strides may be negative; a source stride of 0 repeats one row.
struct Stride {
  Index count = 0;
  Index source_bytes = 0;
  Index target_bytes = 0;
};

// A nest of loops over rows of contiguous bytes; views data that outlives the call. A count or a row of 0 copies
// nothing and is legal.
struct StridedCopy {
  Index source_offset = 0;
  Index target_offset = 0;
  Index row_bytes = 0;
  std::span<const Stride> loops = {};  // slowest first; the order of rows is not promised
  // Bytes of the whole job of which this copy is one part, when that is more than its own: from a few MiB on, stores
  // that bypass the cache are faster, and the part alone cannot tell.
  Index job_bytes = 0;
  // Stores that bypass the cache may still be on their way when the copy returns: more copies follow, and whoever makes
  // them waits for all stores once, before it tells anybody.
  bool leaves_stores = false;
};

// Runs one copy. `source` and `target` are what the offsets count from; the bytes must not overlap.
using CopyKernel = void (*)(std::byte* target, const std::byte* source, const StridedCopy& copy);

}  // namespace reshard
