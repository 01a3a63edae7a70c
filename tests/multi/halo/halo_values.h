// Numbers as elements of any dtype that a halo has been tested with, and back.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "reshard/dtype.h"

namespace reshard::multi {

using Number = std::complex<double>;

// What cell `linear` of a tensor holds in an epoch: names both, in as many bits as the dtype has.
Number value_of(Dtype dtype, Index linear, Index epoch);
// What a cell of a widened gradient holds: fractions where the dtype has them, so that sums depend on their order.
Number gradient_of(Dtype dtype, Index rank, Index cell, Index epoch);

void write_number(Dtype dtype, Number number, std::byte* at);
Number read_number(Dtype dtype, const std::byte* at);
// The terms, one after the other: floats of 8 and 16 bits in f32 and rounded once, others as they are.
Number folded(Dtype dtype, const std::vector<Number>& terms);

}  // namespace reshard::multi
