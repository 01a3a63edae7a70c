// Folds of contiguous elements by vectors.
#pragma once

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

namespace kernel {

// result[i] = terms[0][i] op terms[1][i] op .., as reduce.h has it, all terms in one pass. All ends are contiguous, any
// alignment; the steps are not looked at. The result may be one of the terms, and overlaps none otherwise.
using PackedFold = void (*)(std::byte* result, std::span<const FoldRow> terms, Index count, Index divisor);

// The same elements either way. `streamed` writes past the cache, after which finish_streaming() (rows.h) is due.
struct FoldRows {
  PackedFold plain = nullptr;
  PackedFold streamed = nullptr;
};

// With the best instruction set there is, or the one that instruction_sets.h was told. Null where no vector code pays
// or the processor has none: bool, complex products, averages of integers, products of integers of 8 and 64 bits.
FoldRows fold_rows(ReduceOp op, Dtype dtype);

}  // namespace kernel
}  // namespace reshard
