// Which dtypes can be reduced by which op: asked by plans, kernels and executors alike.
#pragma once

#include "reshard/dtype.h"
#include "reshard/reduce_op.h"

namespace reshard {

// Complex numbers have no order; an average of truths is none. For bool, sum and max are `or`, product and min `and`.
constexpr bool is_reducible(Dtype dtype, ReduceOp op) {
  const bool extreme = op == ReduceOp::min || op == ReduceOp::max;
  if (dtype == Dtype::complex64 || dtype == Dtype::complex128) return !extreme;
  return dtype != Dtype::boolean || op != ReduceOp::avg;
}

}  // namespace reshard
