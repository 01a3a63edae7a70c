// The fold: terms of the same elements to one value each, in the order given.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "reshard/dtype.h"
#include "reshard/index.h"
#include "reshard/reduce_op.h"

namespace reshard {

// Elements of one term, `step` bytes apart.
struct FoldRow {
  const std::byte* data = nullptr;
  Index step = 0;
};

// result[i] = terms[0][i] op terms[1][i] op .., `count` elements, each rounded once at the end. Floats of 8 and 16 bits
// are folded in f32; sums and products of integers wrap. avg is the sum / `divisor`, of integers without overflow and
// toward zero; other ops ignore the divisor. NaN makes NaN, always the same pattern. The result may be
// one of the terms, element by element, and overlaps none otherwise.
// Allocates nothing; the same bits however the elements are divided among calls.
using FoldKernel = void (*)(std::byte* result, Index result_step, std::span<const FoldRow> terms, Index count,
                            Index divisor);

// Null when the dtype cannot be reduced by the op.
FoldKernel fold_kernel(ReduceOp op, Dtype dtype);

// The value that changes no other under the op, in the first bytes_of(dtype) bytes. For avg, the zero of its sum.
std::array<std::byte, 16> identity_of(ReduceOp op, Dtype dtype);

// Loops around a row: the last loop is the row, the slowest comes first. Steps in bytes.
struct FoldLoops {
  std::span<const Index> counts = {};
  std::span<const Index> result_steps = {};  // per loop
  std::span<const Index> term_steps = {};    // per loop, per term
};

// Runs `kernel` over all rows. Each of `terms` begins at its data, which is the same again afterwards.
void reduce(FoldKernel kernel, std::byte* result, std::span<FoldRow> terms, const FoldLoops& loops, Index divisor);

}  // namespace reshard
