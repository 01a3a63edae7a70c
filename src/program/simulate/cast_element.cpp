// Casts by way of long double, which holds every real element exactly: 64 bits of mantissa.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>

#include "base/fail.h"
#include "program/simulate/element_formats.h"
#include "program/simulate/elements.h"
#include "reshard/unroll.h"

namespace reshard::simulation {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64);

template <std::integral T>
T nearest(long double value, AsIs<T>) {
  using Limits = std::numeric_limits<T>;
  const long double whole = std::nearbyint(value);
  if (whole != whole) return 0;
  if (whole >= static_cast<long double>(Limits::max())) return Limits::max();
  if (whole <= static_cast<long double>(Limits::min())) return Limits::min();
  return static_cast<T>(whole);
}
template <std::floating_point T>
T nearest(long double value, AsIs<T>) {
  return static_cast<T>(value);
}
bool nearest(long double value, AsTruth) { return value != 0; }

// A multiple of the step between the neighbours of the value, which f32 has without rounding.
template <narrow::NarrowFloat F, class Bits>
float nearest(long double value, AsFloat<F, Bits>) {
  if (value == 0 || !std::isfinite(value)) return static_cast<float>(value);
  const long double step = std::ldexp(1.0L, std::max(std::ilogb(value), 1 - F.bias) - F.mantissa);
  return static_cast<float>(std::nearbyint(value / step) * step);
}
template <class T>
std::complex<T> nearest(long double value, AsComplex<T>) {
  return {static_cast<T>(value), 0};
}
template <class From, class To>
std::complex<To> nearest(std::complex<From> value, AsComplex<To>) {
  return {static_cast<To>(value.real()), static_cast<To>(value.imag())};
}

bool is_complex(Dtype dtype) { return dtype == Dtype::complex64 || dtype == Dtype::complex128; }

}  // namespace

void cast_element(Dtype from, const std::byte* source, Dtype to, std::byte* target) {
  if (is_complex(from) && !is_complex(to))
    fail(Code::unsupported, "{} cannot be cast to {}: the imaginary part would be dropped", name_of(from), name_of(to));
  with_element_format(from, [&]<class From>(From) {
    with_element_format(to, [&]<class To>(To format) {
      const typename From::Wide value = load_element<From>(source);
      if constexpr (!is_complex_format<From>) {
        store_element<To>(nearest(static_cast<long double>(value), format), target);
      } else if constexpr (is_complex_format<To>) {
        store_element<To>(nearest(value, format), target);
      }
    });
  });
}

std::string element_text(Dtype dtype, const std::byte* at) {
  if (is_real_number(dtype)) return fmt::format("{}", element_value(dtype, at));
  if (dtype == Dtype::u64) return fmt::format("{}", static_cast<std::uint64_t>(read_element(dtype, at)));
  return fmt::format("{}", read_element(dtype, at));
}

}  // namespace reshard::simulation
