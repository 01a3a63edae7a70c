// Which bytes a strided copy touches at each end.
#pragma once

#include "reshard/strided_copy.h"

namespace reshard::fabric {

// Half open, in bytes from what the copy's offsets count from.
struct ByteRange {
  Index begin = 0;
  Index end = 0;
  bool is_empty = true;
  bool within(Index bytes) const { return is_empty || (begin >= 0 && end <= bytes); }
};

// Empty for a copy of nothing. Bounds past 64 bits are clamped: such a range is within nothing.
// Precondition: counts and row_bytes are not negative.
ByteRange source_range(const StridedCopy& copy);
ByteRange target_range(const StridedCopy& copy);
// False for a negative count or row: such a copy has no meaning.
bool is_well_formed(const StridedCopy& copy);

}  // namespace reshard::fabric
