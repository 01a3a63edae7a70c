// Sums of element counts over many ranks, which may exceed 64 bits.
#pragma once

namespace reshard {

__extension__ using Wide = __int128;

}  // namespace reshard
