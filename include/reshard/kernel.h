// The copy that fabrics are given to run put and get between ranks of one host.
#pragma once

#include "reshard/strided_copy.h"

namespace reshard {

// Strided, past the cache for large jobs; docs/design/kernels.md. What thread_ranks and process_ranks use; hand it to
// the options of the other ways to start ranks.
CopyKernel copy_kernel();

}  // namespace reshard
