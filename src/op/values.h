// Values of any dtype made from a seed, and their products.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reshard/dtype.h"

namespace reshard::op {

// A value as products take it. Integers keep their bits: products and sums wrap.
struct Number {
  double real = 0, imaginary = 0;
  std::uint64_t bits = 0;
};

bool is_integer(Dtype dtype);
bool is_complex(Dtype dtype);

// Writes the element that `key` stands for: integers of all bits, floats in [-1, 1), narrow floats small integers.
void write_value(Dtype dtype, std::byte* element, std::uint64_t key);
Number read_value(Dtype dtype, const std::byte* element);

}  // namespace reshard::op
