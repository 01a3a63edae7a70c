// Elements joined where they lie: what an accumulating put does at its target.
#pragma once

#include "reshard/dtype.h"
#include "reshard/reduce_op.h"
#include "reshard/strided_copy.h"

namespace reshard {

// target[i] = target[i] op source[i] for every element of the rows, as the fold of two terms (reduce.h): every step
// rounds. Rows have whole elements; no row lies in another. Allocates nothing. Null for avg, which needs to know how
// many there are, and where the dtype cannot be reduced by the op.
CopyKernel accumulate_kernel(ReduceOp op, Dtype dtype);

}  // namespace reshard
