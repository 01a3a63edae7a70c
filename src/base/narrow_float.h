// Floats of 8 and 16 bits to f32 and back: exact one way, rounded to nearest even the other.
#pragma once

#include <bit>
#include <cstdint>

namespace reshard::narrow {

// Sign, exponent, `mantissa` bits. What is not finite is one pattern each, sign aside.
struct NarrowFloat {
  int mantissa = 0;
  int bias = 0;
  std::uint32_t largest = 0;   // finite
  std::uint32_t overflow = 0;  // what is too large becomes: infinity, or NaN where there is none
  std::uint32_t nan = 0;
  std::uint32_t sign = 0;
};

inline constexpr NarrowFloat kF16{10, 15, 0x7bff, 0x7c00, 0x7e00, 0x8000};
inline constexpr NarrowFloat kBf16{7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0x8000};
inline constexpr NarrowFloat kF8e4m3{3, 7, 0x7e, 0x7f, 0x7f, 0x80};  // no infinities
inline constexpr NarrowFloat kF8e5m2{2, 15, 0x7b, 0x7c, 0x7e, 0x80};

// No branches in either direction, so that loops over many become vector code.
template <NarrowFloat F>
constexpr float widened(std::uint32_t bits) {
  constexpr std::uint32_t shift = 23 - F.mantissa;
  const std::uint32_t sign = (bits & F.sign) != 0 ? 0x80000000u : 0, rest = bits & ~F.sign;
  if constexpr (F.bias == 127) return std::bit_cast<float>(sign | rest << shift);
  constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - F.bias) << 23;
  // A subnormal is a multiple of the least one, 2^(1 - bias - mantissa).
  constexpr float least = std::bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - F.bias - F.mantissa) << 23);
  const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(rest)) * least);
  const std::uint32_t finite = rest >> F.mantissa != 0 ? (rest << shift) + rebias : subnormal;
  constexpr std::uint32_t infinity = 0x7f800000u, nan = 0x7fc00000u;
  const std::uint32_t other = rest == F.overflow && F.overflow != F.nan ? infinity : nan;
  return std::bit_cast<float>(sign | (rest > F.largest ? other : finite));
}

template <NarrowFloat F>
inline std::uint32_t narrowed(float value) {
  constexpr std::uint32_t shift = 23 - F.mantissa;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 31 != 0 ? F.sign : 0, rest = bits & 0x7fffffffu;
  const std::uint32_t even = rest >> shift & 1;
  const std::uint32_t rounded =
      ((rest + (1u << (shift - 1)) - 1 + even) >> shift) - (static_cast<std::uint32_t>(127 - F.bias) << F.mantissa);
  std::uint32_t result = rounded > F.largest ? F.overflow : rounded;
  if constexpr (F.bias != 127) {
    // Below the least normal: adding a power of two whose last bit is the least subnormal rounds there, and what is
    // left over is the pattern.
    constexpr std::uint32_t least_normal = static_cast<std::uint32_t>(128 - F.bias) << 23;
    constexpr std::uint32_t magic = static_cast<std::uint32_t>(128 - F.bias + static_cast<int>(shift)) << 23;
    const float sum = std::bit_cast<float>(rest) + std::bit_cast<float>(magic);
    result = rest < least_normal ? std::bit_cast<std::uint32_t>(sum) - magic : result;
  }
  return rest > 0x7f800000u ? F.nan : sign | result;
}

}  // namespace reshard::narrow
