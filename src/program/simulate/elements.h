// Single elements: the slow, plain twin of the kernels' folds and casts (docs/design/kernels.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "reshard/dtype.h"
#include "reshard/reduce_op.h"

namespace reshard::simulation {

// result = terms[0] op terms[1] op .., in this order, rounded once. `divisor` is that of avg. The result may be a term.
// Precondition: the dtype has the op.
void fold_element(ReduceOp op, Dtype dtype, std::span<const std::byte* const> terms, Index divisor, std::byte* result);
// The value that changes no other.
void write_identity(ReduceOp op, Dtype dtype, std::byte* at);
void cast_element(Dtype from, const std::byte* source, Dtype to, std::byte* target);
// As a real number, of complex numbers the real part: what messages say and tolerances compare.
double element_value(Dtype dtype, const std::byte* at);
std::string element_text(Dtype dtype, const std::byte* at);
bool is_real_number(Dtype dtype);  // a float or complex: sums may round

}  // namespace reshard::simulation
