// Floats of 8 bits with one scale per block.
//
//   value[i][j] = quantised[i][j] * scale[i / rows][j / columns]
//   scale       = amax / largest, amax the greatest |value| of the block, largest 448 for f8e4m3, 57344 for f8e5m2
//
// This is the convention of DeepSeek-V3 (arXiv 2412.19437, 3.3.2; `weight_scale_inv` in its checkpoints, blocks of
// 128 x 128 of weights and of 1 x 128 of activations), which other runtimes follow. The scale multiplies; it is not
// the factor that values were multiplied by.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/block_rows.h"
#include "reshard/dtype.h"
#include "reshard/index.h"

namespace reshard {

// How many elements share a scale. Blocks at the last row and column are what is left of the matrix.
struct BlockShape {
  Index rows = 1;
  Index columns = 128;
  // Scales are rounded up to a power of two, so that scaling rounds nothing: the ue8m0 scales of newer hardware.
  bool powers_of_two = false;
};

// A matrix in memory: elements of a row are contiguous, rows `pitch` bytes apart.
struct MatrixShape {
  Index rows = 0;
  Index columns = 0;
};

// To and from blocks of one shape. The same bits whatever instructions the processor has.
//   - amax is over the finite values of the block. Where that is 0 the scale is 1; where amax / largest is below the
//     least normal f32, 2^-126, the scale is that.
//   - A quantised value is the cast (cast.h) of value / scale, a division rounded to f32. NaN stays NaN; an infinity
//     becomes what the cast makes of it: NaN in f8e4m3.
//   - A value is quantised * scale rounded to f32, and then to the dtype of the values.
class BlockScale {
 public:
  // f32, f16 and bf16 to and from f8e4m3 and f8e5m2.
  static bool exists(Dtype values, Dtype quantised);
  // Precondition: it exists, and the block is at least 1 x 1.
  BlockScale(Dtype values, Dtype quantised, BlockShape block);

  // How many scales a matrix has: row after row of ceil(columns / block.columns), without gaps.
  Index scale_rows(MatrixShape matrix) const { return (matrix.rows + block_.rows - 1) / block_.rows; }
  Index scale_columns(MatrixShape matrix) const { return (matrix.columns + block_.columns - 1) / block_.columns; }

  // Writes all quantised elements and all scales. The ends do not overlap. Allocates nothing.
  void quantise(std::byte* quantised, Index quantised_pitch, float* scales, const std::byte* values, Index values_pitch,
                MatrixShape matrix) const;
  void dequantise(std::byte* values, Index values_pitch, const std::byte* quantised, Index quantised_pitch,
                  const float* scales, MatrixShape matrix) const;

 private:
  float scale_of(float amax) const;

  kernel::BlockRows rows_;
  Index value_bytes_;
  float largest_;
  BlockShape block_;
};

}  // namespace reshard
