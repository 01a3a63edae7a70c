// A constant as the words that programs can fill memory with.
#pragma once

#include <string>
#include <vector>

#include "reshard/dtype.h"

namespace reshard::halo {

struct ConstantWords {
  Dtype word = Dtype::u8;      // an integer as wide as an element, or half of it
  std::vector<Index> numbers;  // one for each word of an element
};

// Throws Error(invalid_argument) where the dtype does not have the value.
ConstantWords constant_words(double value, Dtype dtype, const std::string& where);

}  // namespace reshard::halo
