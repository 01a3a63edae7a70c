// The transposing copy: what lies along a row at one end lies along a column at the other.
#pragma once

#include <cstddef>

#include "reshard/strided_copy.h"

namespace reshard::kernel {

// Whether `outer` walks the source and `inner` the target element by element, in elements that transpose() takes, and
// there are enough of them to pay.
bool is_transpose(const Stride& outer, const Stride& inner, Index element_bytes);

// Copies them by blocks of cache lines, past the cache if `stream`; finish_streaming() (rows.h) is due after the last.
// Precondition: is_transpose().
void transpose(std::byte* target, const std::byte* source, const Stride& outer, const Stride& inner,
               Index element_bytes, bool stream);

}  // namespace reshard::kernel
