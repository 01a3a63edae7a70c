// One value to the nearest of another type.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/narrow_float.h"

namespace reshard::kernel {

// To f32 with the last bit set where anything was cut off. A narrower float made from that is what one rounding of the
// exact value gives: f32 has more than two bits to spare for each of them.
inline float rounded_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;  // one toward zero
  return std::bit_cast<float>(bits | 1);
}
inline float rounded_to_odd(std::uint64_t value) {
  const int cut = static_cast<int>(std::bit_width(value)) - std::numeric_limits<float>::digits;
  if (cut <= 0) return static_cast<float>(value);
  const std::uint64_t kept = value >> cut;
  const bool is_exact = kept << cut == value;
  return std::ldexp(static_cast<float>(kept | (is_exact ? 0u : 1u)), cut);
}
inline float rounded_to_odd(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? -rounded_to_odd(0 - bits) : rounded_to_odd(bits);
}
inline float rounded_to_odd(float value) { return value; }

template <narrow::NarrowFloat F, class From>
std::uint32_t nearest_narrow(From value) {
  return narrow::narrowed<F>(rounded_to_odd(value));
}

// Integers are exact or rounded here; NaN becomes one pattern.
template <std::floating_point To, class From>
To nearest_float(From value) {
  return value != value ? std::numeric_limits<To>::quiet_NaN() : static_cast<To>(value);
}

template <std::integral To, std::integral From>
To nearest_integer(From value) {
  using Limits = std::numeric_limits<To>;
  if (std::cmp_less(value, Limits::min())) return Limits::min();
  if (std::cmp_greater(value, Limits::max())) return Limits::max();
  return static_cast<To>(value);
}
// NaN becomes 0.
template <std::integral To, std::floating_point From>
To nearest_integer(From value) {
  using Limits = std::numeric_limits<To>;
  const From whole = std::nearbyint(value);
  if (whole != whole) return 0;
  const From past = std::ldexp(From(1), Limits::digits);  // the greatest, and 1
  if (whole >= past) return Limits::max();
  if (whole < static_cast<From>(Limits::min())) return Limits::min();
  return static_cast<To>(whole);
}

}  // namespace reshard::kernel
