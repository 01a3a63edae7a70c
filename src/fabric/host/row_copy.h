// The copy of worlds that were given none: one memcpy per row.
#pragma once

#include "reshard/strided_copy.h"

namespace reshard::fabric {

void copy_rows(std::byte* target, const std::byte* source, const StridedCopy& copy);

}  // namespace reshard::fabric
