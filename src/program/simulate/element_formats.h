// How an element of each dtype lies in memory, and in what type it is computed with.
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/narrow_float.h"
#include "reshard/dtype.h"

namespace reshard::simulation {

template <class T>
struct AsIs {
  using Stored = T;
  using Wide = T;
  static Wide widen(Stored value) { return value; }
  static Stored narrow(Wide value) {
    if constexpr (std::is_floating_point_v<T>) return value != value ? std::numeric_limits<T>::quiet_NaN() : value;
    return value;
  }
};

template <narrow::NarrowFloat F, class Bits>
struct AsFloat {
  using Stored = Bits;
  using Wide = float;
  static Wide widen(Stored bits) { return narrow::widened<F>(bits); }
  static Stored narrow(Wide value) { return static_cast<Stored>(narrow::narrowed<F>(value)); }
};

template <class T>
struct AsComplex {
  using Stored = std::complex<T>;
  using Wide = std::complex<T>;
  static Wide widen(Stored value) { return value; }
  static Stored narrow(Wide value) { return {AsIs<T>::narrow(value.real()), AsIs<T>::narrow(value.imag())}; }
};

// Any byte but 0 is true; results are 0 or 1.
struct AsTruth {
  using Stored = std::uint8_t;
  using Wide = bool;
  static Wide widen(Stored byte) { return byte != 0; }
  static Stored narrow(Wide value) { return value ? 1 : 0; }
};

// Calls f with the format of the dtype.
template <class F>
auto with_element_format(Dtype dtype, F f) {
  switch (dtype) {
    case Dtype::boolean: return f(AsTruth{});
    case Dtype::u8: return f(AsIs<std::uint8_t>{});
    case Dtype::i8: return f(AsIs<std::int8_t>{});
    case Dtype::u16: return f(AsIs<std::uint16_t>{});
    case Dtype::i16: return f(AsIs<std::int16_t>{});
    case Dtype::u32: return f(AsIs<std::uint32_t>{});
    case Dtype::i32: return f(AsIs<std::int32_t>{});
    case Dtype::u64: return f(AsIs<std::uint64_t>{});
    case Dtype::i64: return f(AsIs<std::int64_t>{});
    case Dtype::f8e4m3: return f(AsFloat<narrow::kF8e4m3, std::uint8_t>{});
    case Dtype::f8e5m2: return f(AsFloat<narrow::kF8e5m2, std::uint8_t>{});
    case Dtype::f16: return f(AsFloat<narrow::kF16, std::uint16_t>{});
    case Dtype::bf16: return f(AsFloat<narrow::kBf16, std::uint16_t>{});
    case Dtype::f32: return f(AsIs<float>{});
    case Dtype::f64: return f(AsIs<double>{});
    case Dtype::complex64: return f(AsComplex<float>{});
    case Dtype::complex128: break;
  }
  return f(AsComplex<double>{});
}

template <class Format>
inline constexpr bool is_complex_format = !std::is_arithmetic_v<typename Format::Wide>;

template <class Format>
typename Format::Wide load_element(const std::byte* at) {
  typename Format::Stored stored;
  std::memcpy(&stored, at, sizeof(stored));
  return Format::widen(stored);
}

template <class Format>
void store_element(typename Format::Wide value, std::byte* at) {
  const typename Format::Stored stored = Format::narrow(value);
  std::memcpy(at, &stored, sizeof(stored));
}

}  // namespace reshard::simulation
