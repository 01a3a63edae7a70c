// The obvious twins of the conversions: decode by the definition, encode by looking for the nearest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace reshard::twin {

struct Format {
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  std::uint32_t sign() const { return 1u << (exponent_bits + mantissa_bits); }
};

inline constexpr Format f16{"f16", 5, 10, true};
inline constexpr Format bf16{"bf16", 8, 7, true};
inline constexpr Format f8e4m3{"f8e4m3", 4, 3, false};
inline constexpr Format f8e5m2{"f8e5m2", 5, 2, true};

inline double decode(const Format& format, std::uint32_t bits) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1, top = (1 << format.exponent_bits) - 1;
  const auto mantissa = static_cast<int>(bits & ((1u << format.mantissa_bits) - 1));
  const auto exponent = static_cast<int>(bits >> format.mantissa_bits & ((1u << format.exponent_bits) - 1));
  const double sign = (bits & format.sign()) != 0 ? -1 : 1;
  if (exponent == top && format.has_infinity)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (exponent == top && mantissa == (1 << format.mantissa_bits) - 1) return std::numeric_limits<double>::quiet_NaN();
  const int hidden = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  return sign * std::ldexp(hidden + mantissa, std::max(exponent, 1) - bias - format.mantissa_bits);
}

// All finite values from 0 up; their position is their pattern.
inline std::vector<double> ladder(const Format& format) {
  std::vector<double> values;
  for (std::uint32_t bits = 0; bits < format.sign() && std::isfinite(decode(format, bits)); ++bits)
    values.push_back(decode(format, bits));
  return values;
}

// Nearest, ties to the even pattern; NaN is told apart by the caller.
inline std::uint32_t encode(const Format& format, const std::vector<double>& ladder, long double value) {
  const std::uint32_t sign = std::signbit(value) ? format.sign() : 0;
  const long double size = std::fabs(value);
  const auto above = std::ranges::lower_bound(ladder, size);
  auto pattern = static_cast<std::uint32_t>(above - ladder.begin());
  if (pattern == 0) return sign;
  // Past the last value the next step of the ladder would be as long as the last one.
  const double below = ladder[pattern - 1];
  const double next = above != ladder.end() ? *above : 2 * below - ladder[pattern - 2];
  const double middle = below + (next - below) / 2;
  if (size < middle || (size == middle && (pattern - 1) % 2 == 0)) --pattern;
  return sign | pattern;  // one past the ladder is infinity, or NaN where there is none
}

}  // namespace reshard::twin
