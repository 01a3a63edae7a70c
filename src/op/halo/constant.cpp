#include "op/halo/constant.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "base/narrow_float.h"

namespace reshard::halo {
namespace {

template <class T>
Index integer(double value, Dtype dtype, const std::string& where) {
  // The limits are powers of two, or one less: a double holds the power.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double begin = std::numeric_limits<T>::is_signed ? -end : 0;
  if (value != std::floor(value) || value < begin || value >= end)
    fail(Code::invalid_argument, "{}: {} has no value {}; take a whole number in its range", where, name_of(dtype),
         value);
  return static_cast<Index>(static_cast<T>(value));
}

template <narrow::NarrowFloat F>
Index narrow_bits(double value) {
  return static_cast<Index>(narrow::narrowed<F>(static_cast<float>(value)));
}

Index float_bits(double value) { return static_cast<Index>(std::bit_cast<std::uint32_t>(static_cast<float>(value))); }

}  // namespace

ConstantWords constant_words(double value, Dtype dtype, const std::string& where) {
  switch (dtype) {
    case Dtype::boolean: return {Dtype::u8, {integer<bool>(value, dtype, where)}};
    case Dtype::u8: return {dtype, {integer<std::uint8_t>(value, dtype, where)}};
    case Dtype::i8: return {dtype, {integer<std::int8_t>(value, dtype, where)}};
    case Dtype::u16: return {dtype, {integer<std::uint16_t>(value, dtype, where)}};
    case Dtype::i16: return {dtype, {integer<std::int16_t>(value, dtype, where)}};
    case Dtype::u32: return {dtype, {integer<std::uint32_t>(value, dtype, where)}};
    case Dtype::i32: return {dtype, {integer<std::int32_t>(value, dtype, where)}};
    case Dtype::u64: return {dtype, {integer<std::uint64_t>(value, dtype, where)}};
    case Dtype::i64: return {dtype, {integer<std::int64_t>(value, dtype, where)}};
    case Dtype::f8e4m3: return {Dtype::u8, {narrow_bits<narrow::kF8e4m3>(value)}};
    case Dtype::f8e5m2: return {Dtype::u8, {narrow_bits<narrow::kF8e5m2>(value)}};
    case Dtype::f16: return {Dtype::u16, {narrow_bits<narrow::kF16>(value)}};
    case Dtype::bf16: return {Dtype::u16, {narrow_bits<narrow::kBf16>(value)}};
    case Dtype::f32: return {Dtype::u32, {float_bits(value)}};
    case Dtype::f64: return {Dtype::i64, {std::bit_cast<Index>(value)}};
    case Dtype::complex64: return {Dtype::u32, {float_bits(value), 0}};
    case Dtype::complex128: return {Dtype::i64, {std::bit_cast<Index>(value), 0}};
  }
  fail(Code::internal, "no dtype {}", static_cast<int>(dtype));
}

}  // namespace reshard::halo
