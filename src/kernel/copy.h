// The strided copy: every byte that moves on a host goes through here once.
#pragma once

#include "reshard/strided_copy.h"

namespace reshard {

// A CopyKernel. Loops are merged where both ends are contiguous and reordered for locality, so callers need not. Rows
// of up to 64 bytes have loops of their own, and elements of 1 to 16 bytes are transposed in registers. When the job
// (copy.job_bytes, or this copy if more) is large, long rows and whole cache lines are written past the cache; such
// stores are complete when the call returns, as any others. Allocates nothing. No bounds are checked. Counts and rows
// may be 0, strides negative.
void copy_strided(std::byte* target, const std::byte* source, const StridedCopy& copy);

}  // namespace reshard
