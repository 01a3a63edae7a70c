#include "kernel/block_scale.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/narrow_float.h"

namespace reshard {

bool BlockScale::exists(Dtype values, Dtype quantised) { return kernel::block_rows(values, quantised).amax != nullptr; }

BlockScale::BlockScale(Dtype values, Dtype quantised, BlockShape block)
    : rows_(kernel::block_rows(values, quantised)),
      value_bytes_(bytes_of(values)),
      largest_(quantised == Dtype::f8e4m3 ? narrow::widened<narrow::kF8e4m3>(narrow::kF8e4m3.largest)
                                          : narrow::widened<narrow::kF8e5m2>(narrow::kF8e5m2.largest)),
      block_(block) {}

float BlockScale::scale_of(float amax) const {
  if (amax == 0) return 1;
  const float scale = std::max(amax / largest_, std::numeric_limits<float>::min());
  if (!block_.powers_of_two) return scale;
  // Up to the next exponent if there is any mantissa.
  constexpr std::uint32_t mantissa = 0x7fffff;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(scale) + mantissa) & ~mantissa);
}

void BlockScale::quantise(std::byte* quantised, Index quantised_pitch, float* scales, const std::byte* values,
                          Index values_pitch, MatrixShape matrix) const {
  for (Index i = 0; i < matrix.rows; i += block_.rows) {
    const Index i_end = std::min(matrix.rows, i + block_.rows);
    for (Index j = 0; j < matrix.columns; j += block_.columns) {
      const Index count = std::min(block_.columns, matrix.columns - j);
      float amax = 0;
      for (Index k = i; k < i_end; ++k)
        amax = std::max(amax, rows_.amax(values + k * values_pitch + j * value_bytes_, count));
      const float scale = scale_of(amax);
      *scales++ = scale;
      for (Index k = i; k < i_end; ++k)
        rows_.quantise(quantised + k * quantised_pitch + j, values + k * values_pitch + j * value_bytes_, count, scale);
    }
  }
}

void BlockScale::dequantise(std::byte* values, Index values_pitch, const std::byte* quantised, Index quantised_pitch,
                            const float* scales, MatrixShape matrix) const {
  const Index scale_pitch = scale_columns(matrix);
  for (Index i = 0; i < matrix.rows; ++i) {
    const float* scale = scales + i / block_.rows * scale_pitch;
    for (Index j = 0; j < matrix.columns; j += block_.columns)
      rows_.dequantise(values + i * values_pitch + j * value_bytes_, quantised + i * quantised_pitch + j,
                       std::min(block_.columns, matrix.columns - j), *scale++);
  }
}

}  // namespace reshard
