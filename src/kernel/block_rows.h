// One row of a block that has one scale, by vectors or without.
#pragma once

#include <cstddef>

#include "reshard/dtype.h"
#include "reshard/index.h"

namespace reshard::kernel {

// Contiguous elements of any alignment, as block_scale.h has it.
struct BlockRows {
  float (*amax)(const std::byte* values, Index count) = nullptr;  // of the finite ones, 0 if there are none
  void (*quantise)(std::byte* quantised, const std::byte* values, Index count, float scale) = nullptr;
  void (*dequantise)(std::byte* values, const std::byte* quantised, Index count, float scale) = nullptr;
};

// With the best instruction set there is, or the one that instruction_sets.h was told. Null for dtypes that have none.
BlockRows block_rows(Dtype values, Dtype quantised);

}  // namespace reshard::kernel
