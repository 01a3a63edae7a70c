// The fold: terms of the same elements to one value each, in the order given.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "kernel/fold_rows.h"
#include "reshard/dtype.h"
#include "reshard/index.h"
#include "reshard/reduce_op.h"

namespace reshard {

// result[i] = terms[0][i] op terms[1][i] op .., `count` elements, each rounded once at the end. Floats of 8 and 16 bits
// are folded in f32; sums and products of integers wrap. avg is the sum / `divisor`, of integers without overflow and
// toward zero; other ops ignore the divisor. NaN makes NaN, always the same pattern. The result may be
// one of the terms, element by element, and overlaps none otherwise.
// Allocates nothing; the same bits however the elements are divided among calls.
class FoldKernel {
 public:
  using Loop = void (*)(std::byte* result, Index result_step, std::span<const FoldRow> terms, Index count,
                        Index divisor);

  FoldKernel() = default;
  FoldKernel(Loop loop, kernel::FoldRows packed, Index element_bytes)
      : loop_(loop), packed_(packed), element_bytes_(element_bytes) {}

  void operator()(std::byte* result, Index result_step, std::span<const FoldRow> terms, Index count,
                  Index divisor) const {
    run(result, result_step, terms, count, divisor, false);
  }
  // The same past the cache where all is contiguous; finish_streaming() (rows.h) is due after the last. Reads what it
  // folds before it writes, but is slower than the other where the result is one of the terms.
  void stream(std::byte* result, Index result_step, std::span<const FoldRow> terms, Index count, Index divisor) const {
    run(result, result_step, terms, count, divisor, true);
  }
  Index element_bytes() const { return element_bytes_; }

  explicit operator bool() const { return loop_ != nullptr; }
  friend bool operator==(const FoldKernel& kernel, std::nullptr_t) { return !kernel; }

 private:
  void run(std::byte* result, Index result_step, std::span<const FoldRow> terms, Index count, Index divisor,
           bool stream) const;

  Loop loop_ = nullptr;      // any steps
  kernel::FoldRows packed_;  // contiguous, by vectors
  Index element_bytes_ = 0;
};

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

// Runs `kernel` over all rows; loops that continue each other are one row, and large results that are none of the terms
// are written past the cache. Each of `terms` begins at its data, which is the same again afterwards.
void reduce(FoldKernel kernel, std::byte* result, std::span<FoldRow> terms, const FoldLoops& loops, Index divisor);

}  // namespace reshard
