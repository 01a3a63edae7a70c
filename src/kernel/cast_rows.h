// Casts of contiguous elements by vectors.
#pragma once

#include <cstddef>

#include "reshard/dtype.h"
#include "reshard/index.h"

namespace reshard::kernel {

// `count` elements to another dtype, any alignment, as cast.h has it. Both ends are contiguous and do not overlap,
// but may be the same elements where both dtypes have one size.
using CastRow = void (*)(std::byte* target, const std::byte* source, Index count);

// The same elements either way. `streamed` writes past the cache, after which finish_streaming() (rows.h) is due.
struct CastRows {
  CastRow plain = nullptr;
  CastRow streamed = nullptr;
};

// With the best instruction set there is, or the one that instruction_sets.h was told. Null where no vector code pays
// or the processor has none: between real dtypes of up to 32 bits there is one to f32 and from it for all but bool and
// u32; f32 and f64 to each other, f64 to narrow floats.
CastRows cast_rows(Dtype source, Dtype target);

}  // namespace reshard::kernel
