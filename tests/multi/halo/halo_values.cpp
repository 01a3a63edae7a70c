#include "multi/halo/halo_values.h"

#include <cstring>
#include <stdexcept>

#include "base/narrow_float.h"

namespace reshard::multi {
namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c * 0x94d049bb133111ebu;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

bool is_complex(Dtype dtype) { return dtype == Dtype::complex64 || dtype == Dtype::complex128; }
bool is_small(Dtype dtype) { return bytes_of(dtype) < 4; }
bool is_integer(Dtype dtype) { return dtype <= Dtype::i64; }

template <class T>
void put(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof value);
}
template <class T>
T take(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
Number sum_in(const std::vector<Number>& terms) {
  T re = static_cast<T>(terms[0].real()), im = static_cast<T>(terms[0].imag());
  for (std::size_t k = 1; k < terms.size(); ++k) {
    re = static_cast<T>(re + static_cast<T>(terms[k].real()));
    im = static_cast<T>(im + static_cast<T>(terms[k].imag()));
  }
  return {static_cast<double>(re), static_cast<double>(im)};
}

}  // namespace

Number value_of(Dtype dtype, Index linear, Index epoch) {
  if (is_small(dtype)) return static_cast<double>(mixed(linear, epoch, 1) % 97 + 1);
  const double value = static_cast<double>(linear + 1 + 100'000 * epoch);
  return {value, is_complex(dtype) ? -value - 0.5 : 0};
}

Number gradient_of(Dtype dtype, Index rank, Index cell, Index epoch) {
  const std::uint64_t bits = mixed(rank, cell, epoch);
  if (is_integer(dtype)) return static_cast<double>(bits % 41) - (dtype == Dtype::u8 ? 0 : 20);
  std::byte element[16];
  const double fraction = static_cast<double>(bits % 20011) / 7 - 1400;
  write_number(dtype, {fraction, is_complex(dtype) ? fraction / 3 : 0}, element);
  return read_number(dtype, element);
}

void write_number(Dtype dtype, Number number, std::byte* at) {
  const double re = number.real(), im = number.imag();
  switch (dtype) {
    case Dtype::u8: return put(static_cast<std::uint8_t>(static_cast<int>(re)), at);
    case Dtype::i16: return put(static_cast<std::int16_t>(re), at);
    case Dtype::i32: return put(static_cast<std::int32_t>(re), at);
    case Dtype::i64: return put(static_cast<std::int64_t>(re), at);
    case Dtype::f16: return put(static_cast<std::uint16_t>(narrow::narrowed<narrow::kF16>(static_cast<float>(re))), at);
    case Dtype::bf16:
      return put(static_cast<std::uint16_t>(narrow::narrowed<narrow::kBf16>(static_cast<float>(re))), at);
    case Dtype::f32: return put(static_cast<float>(re), at);
    case Dtype::f64: return put(re, at);
    case Dtype::complex64: return put(std::complex<float>(static_cast<float>(re), static_cast<float>(im)), at);
    case Dtype::complex128: return put(number, at);
    default: throw std::logic_error("no test values of " + std::string(name_of(dtype)));
  }
}

Number read_number(Dtype dtype, const std::byte* at) {
  switch (dtype) {
    case Dtype::u8: return take<std::uint8_t>(at);
    case Dtype::i16: return take<std::int16_t>(at);
    case Dtype::i32: return take<std::int32_t>(at);
    case Dtype::i64: return static_cast<double>(take<std::int64_t>(at));
    case Dtype::f16: return narrow::widened<narrow::kF16>(take<std::uint16_t>(at));
    case Dtype::bf16: return narrow::widened<narrow::kBf16>(take<std::uint16_t>(at));
    case Dtype::f32: return take<float>(at);
    case Dtype::f64: return take<double>(at);
    case Dtype::complex64: {
      const auto value = take<std::complex<float>>(at);
      return {value.real(), value.imag()};
    }
    case Dtype::complex128: return take<Number>(at);
    default: throw std::logic_error("no test values of " + std::string(name_of(dtype)));
  }
}

Number folded(Dtype dtype, const std::vector<Number>& terms) {
  const bool in_doubles = is_integer(dtype) || dtype == Dtype::f64 || dtype == Dtype::complex128;
  const Number sum = in_doubles ? sum_in<double>(terms) : sum_in<float>(terms);
  std::byte element[16];
  write_number(dtype, sum, element);
  return read_number(dtype, element);
}

}  // namespace reshard::multi
