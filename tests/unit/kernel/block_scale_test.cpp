// Block scales against the formula, one element at a time.
#include "kernel/block_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "cast_twin.h"
#include "every_instruction_set.h"

namespace reshard {
namespace {

constexpr Dtype kValues[] = {Dtype::f32, Dtype::f16, Dtype::bf16};
constexpr Dtype kQuantised[] = {Dtype::f8e4m3, Dtype::f8e5m2};
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A matrix whose rows have a gap of `kGap` bytes, which nobody writes.
constexpr Index kGap = 5;
struct Matrix {
  Matrix(Dtype of, MatrixShape its)
      : dtype(of),
        shape(its),
        pitch(its.columns * bytes_of(of) + kGap),
        bytes(static_cast<std::size_t>(std::max<Index>(its.rows * pitch, 1)), std::byte{0xA5}) {}

  std::byte* at(Index i, Index j) { return bytes.data() + i * pitch + j * bytes_of(dtype); }
  const std::byte* at(Index i, Index j) const { return bytes.data() + i * pitch + j * bytes_of(dtype); }
  float value(Index i, Index j) const { return static_cast<float>(twin::real_at(dtype, at(i, j))); }
  void set(Index i, Index j, float value) {
    const std::vector<std::byte> element = twin::cast(dtype, value);
    std::memcpy(at(i, j), element.data(), element.size());
  }

  Dtype dtype;
  MatrixShape shape;
  Index pitch;
  std::vector<std::byte> bytes;
};

// The formula of the header.
float twin_scale(const Matrix& values, Dtype quantised, BlockShape block, Index row, Index column) {
  double amax = 0;
  for (Index i = row; i < std::min(values.shape.rows, row + block.rows); ++i)
    for (Index j = column; j < std::min(values.shape.columns, column + block.columns); ++j)
      if (std::isfinite(values.value(i, j))) amax = std::max(amax, std::fabs(static_cast<double>(values.value(i, j))));
  if (amax == 0) return 1;
  // Both are exact in f32, so this is their quotient in one rounding.
  const float quotient = static_cast<float>(amax / (quantised == Dtype::f8e4m3 ? 448.0 : 57344.0));
  const float scale = std::max(quotient, 0x1p-126f);
  if (!block.powers_of_two) return scale;
  float power = 0x1p-126f;
  while (power < scale) power *= 2;
  return power;
}

void expect_like_formula(const Matrix& values, Dtype quantised, BlockShape block) {
  ASSERT_TRUE(BlockScale::exists(values.dtype, quantised));
  const BlockScale kernel(values.dtype, quantised, block);
  const MatrixShape shape = values.shape;
  Matrix made(quantised, shape), expected(quantised, shape), back(values.dtype, shape), again(values.dtype, shape);
  std::vector<float> scales(static_cast<std::size_t>(kernel.scale_rows(shape) * kernel.scale_columns(shape) + 1), -1);
  kernel.quantise(made.bytes.data(), made.pitch, scales.data(), values.bytes.data(), values.pitch, shape);
  kernel.dequantise(back.bytes.data(), back.pitch, made.bytes.data(), made.pitch, scales.data(), shape);
  ASSERT_EQ(scales.back(), -1) << "one scale too many";
  const Index scale_columns = kernel.scale_columns(shape);
  for (Index row = 0; row < kernel.scale_rows(shape); ++row)
    for (Index column = 0; column < scale_columns; ++column)
      ASSERT_EQ(scales[static_cast<std::size_t>(row * scale_columns + column)],
                twin_scale(values, quantised, block, row * block.rows, column * block.columns))
          << name_of(values.dtype) << " block " << row << ", " << column;
  for (Index i = 0; i < shape.rows; ++i)
    for (Index j = 0; j < shape.columns; ++j) {
      const float scale = scales[static_cast<std::size_t>(i / block.rows * scale_columns + j / block.columns)];
      expected.set(i, j, values.value(i, j) / scale);
      again.set(i, j, made.value(i, j) * scale);
      ASSERT_EQ(*made.at(i, j), *expected.at(i, j))
          << name_of(values.dtype) << " to " << name_of(quantised) << ", element " << i << ", " << j << ": "
          << values.value(i, j) << " at scale " << scale;
    }
  ASSERT_EQ(made.bytes, expected.bytes);  // the gaps as well
  ASSERT_EQ(back.bytes, again.bytes) << name_of(values.dtype) << " from " << name_of(quantised);
}

Matrix random_matrix(Dtype dtype, MatrixShape shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Matrix matrix(dtype, shape);
  for (Index i = 0; i < shape.rows; ++i)
    for (Index j = 0; j < shape.columns; ++j)
      matrix.set(i, j,
                 std::ldexp(static_cast<float>(static_cast<int>(random() % 2001) - 1000),
                            static_cast<int>(random() % 12) - 10));
  return matrix;
}

TEST(BlockScale, IsTheFormulaForEveryShape) {
  for_every_instruction_set([] {
    for (const Dtype values : kValues)
      for (const Dtype quantised : kQuantised)
        for (const bool powers : {false, true})
          for (const BlockShape block :
               {BlockShape{1, 128, powers}, {128, 128, powers}, {3, 17, powers}, {1, 1, powers}})
            for (const MatrixShape shape : {MatrixShape{0, 5}, {5, 0}, {1, 1}, {2, 127}, {3, 129}, {130, 131}})
              ASSERT_NO_FATAL_FAILURE(expect_like_formula(random_matrix(values, shape, 20261130), quantised, block));
  });
}

TEST(BlockScale, BlocksOfZerosNaNAndInfinities) {
  for_every_instruction_set([] {
    for (const Dtype values : kValues)
      for (const Dtype quantised : kQuantised) {
        Matrix matrix = random_matrix(values, {4, 400}, 7);
        for (Index j = 0; j < 128; ++j) matrix.set(0, j, j % 2 == 0 ? 0.0f : -0.0f);
        for (Index j = 128; j < 256; ++j) matrix.set(0, j, NAN);
        matrix.set(1, 3, kInfinity), matrix.set(1, 200, -kInfinity), matrix.set(2, 399, NAN);
        ASSERT_NO_FATAL_FAILURE(expect_like_formula(matrix, quantised, {1, 128}));
        ASSERT_NO_FATAL_FAILURE(expect_like_formula(matrix, quantised, {4, 128, true}));
      }
  });
}

// Down to subnormals, where the quotient of amax would be 0, and up to the greatest.
TEST(BlockScale, ScalesOfEverySize) {
  for_every_instruction_set([] {
    for (const Dtype quantised : kQuantised)
      for (int power = -149; power < 128; power += 3) {
        Matrix matrix(Dtype::f32, {1, 150});
        for (Index j = 0; j < 150; ++j) matrix.set(0, j, std::ldexp(1.0f + 0.01f * static_cast<float>(j % 99), power));
        ASSERT_NO_FATAL_FAILURE(expect_like_formula(matrix, quantised, {1, 64, power % 2 == 0}));
      }
  });
}

// The greatest of a block becomes the greatest there is, whatever its size: none overflows into NaN.
TEST(BlockScale, TheGreatestBecomesTheGreatest) {
  std::mt19937 random(20261130);
  for (int i = 0; i < 20'000; ++i) {
    const float amax = std::bit_cast<float>(static_cast<std::uint32_t>(random() % 0x7f800000u));
    if (amax < 0x1p-110f) continue;
    const BlockScale kernel(Dtype::f32, Dtype::f8e4m3, {1, 1});
    std::byte quantised{};
    float scale = 0;
    kernel.quantise(&quantised, 1, &scale, reinterpret_cast<const std::byte*>(&amax), 4, {1, 1});
    ASSERT_EQ(quantised, std::byte{0x7e}) << amax << " at scale " << scale;
  }
}

TEST(BlockScale, ExistsForFloatsOnly) {
  EXPECT_FALSE(BlockScale::exists(Dtype::f64, Dtype::f8e4m3));
  EXPECT_FALSE(BlockScale::exists(Dtype::f32, Dtype::i8));
  EXPECT_FALSE(BlockScale::exists(Dtype::f8e4m3, Dtype::f32));
}

}  // namespace
}  // namespace reshard
