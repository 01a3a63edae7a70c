// The obvious twin of the cast: one element at a time, by way of a type that holds every real element exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "narrow_twin.h"
#include "reshard/dtype.h"

namespace reshard::twin {

// 64 bits of mantissa or more: every integer and every float that there is.
using Real = long double;
static_assert(std::numeric_limits<Real>::digits >= 64);

inline bool is_narrow(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16 || dtype == Dtype::f8e4m3 || dtype == Dtype::f8e5m2;
}
inline const Format& format_of(Dtype dtype) {
  return dtype == Dtype::f16 ? f16 : dtype == Dtype::bf16 ? bf16 : dtype == Dtype::f8e4m3 ? f8e4m3 : f8e5m2;
}

template <class T>
T value_at(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

// Of a real dtype.
inline Real real_at(Dtype dtype, const std::byte* at) {
  if (is_narrow(dtype))
    return decode(format_of(dtype), bytes_of(dtype) == 1 ? value_at<std::uint8_t>(at) : value_at<std::uint16_t>(at));
  switch (dtype) {
    case Dtype::boolean: return value_at<std::uint8_t>(at) != 0 ? 1 : 0;
    case Dtype::u8: return value_at<std::uint8_t>(at);
    case Dtype::i8: return value_at<std::int8_t>(at);
    case Dtype::u16: return value_at<std::uint16_t>(at);
    case Dtype::i16: return value_at<std::int16_t>(at);
    case Dtype::u32: return value_at<std::uint32_t>(at);
    case Dtype::i32: return value_at<std::int32_t>(at);
    case Dtype::u64: return static_cast<Real>(value_at<std::uint64_t>(at));
    case Dtype::i64: return static_cast<Real>(value_at<std::int64_t>(at));
    case Dtype::f32: return value_at<float>(at);
    default: return value_at<double>(at);
  }
}

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_from(T value) {
  Bytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class T>
Bytes integer_from(Real value) {
  if (std::isnan(value)) return bytes_from(T(0));
  // By the definition of nearest, ties to even.
  Real whole = std::floor(value);
  const Real over = value - whole;
  if (over > 0.5L || (over == 0.5L && std::fmod(whole, 2.0L) != 0)) whole += 1;
  const auto least = static_cast<Real>(std::numeric_limits<T>::min());
  const auto most = static_cast<Real>(std::numeric_limits<T>::max());
  return bytes_from(static_cast<T>(std::clamp(whole, least, most)));
}

inline Bytes narrow_from(Dtype dtype, Real value) {
  const Format& format = format_of(dtype);
  static const std::vector<double> ladders[] = {ladder(f16), ladder(bf16), ladder(f8e4m3), ladder(f8e5m2)};
  const auto which = dtype == Dtype::f16 ? 0 : dtype == Dtype::bf16 ? 1 : dtype == Dtype::f8e4m3 ? 2 : 3;
  // The NaN of each, without a sign.
  const std::uint32_t nans[] = {0x7e00, 0x7fc0, 0x7f, 0x7e};
  std::uint32_t bits = std::isnan(value) ? nans[which] : encode(format, ladders[which], value);
  return format.bits() == 8 ? bytes_from(static_cast<std::uint8_t>(bits))
                            : bytes_from(static_cast<std::uint16_t>(bits));
}

template <class T>
Bytes float_from(Real value) {
  return bytes_from(std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(value));
}

// To a real dtype.
inline Bytes cast(Dtype target, Real value) {
  if (is_narrow(target)) return narrow_from(target, value);
  switch (target) {
    case Dtype::boolean: return bytes_from(static_cast<std::uint8_t>(value != 0 ? 1 : 0));
    case Dtype::u8: return integer_from<std::uint8_t>(value);
    case Dtype::i8: return integer_from<std::int8_t>(value);
    case Dtype::u16: return integer_from<std::uint16_t>(value);
    case Dtype::i16: return integer_from<std::int16_t>(value);
    case Dtype::u32: return integer_from<std::uint32_t>(value);
    case Dtype::i32: return integer_from<std::int32_t>(value);
    case Dtype::u64: return integer_from<std::uint64_t>(value);
    case Dtype::i64: return integer_from<std::int64_t>(value);
    case Dtype::f32: return float_from<float>(value);
    default: return float_from<double>(value);
  }
}

}  // namespace reshard::twin
