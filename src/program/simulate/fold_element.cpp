#include "program/simulate/element_formats.h"
#include "program/simulate/elements.h"

namespace reshard::simulation {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

// Sums and products of integers wrap, averages do not: both are right modulo 2^bits of a type wide enough.
template <class T>
using Folded = std::conditional_t<std::is_same_v<T, bool>, bool, std::conditional_t<std::is_integral_v<T>, Int128, T>>;

template <class T>
std::complex<T> product_of(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
// Wraps at 128 bits without overflow of a signed type.
Int128 product_of(Int128 a, Int128 b) {
  return static_cast<Int128>(static_cast<Unsigned128>(a) * static_cast<Unsigned128>(b));
}
float product_of(float a, float b) { return a * b; }
double product_of(double a, double b) { return a * b; }

template <class T>
T combined(ReduceOp op, T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return op == ReduceOp::sum || op == ReduceOp::max ? a || b : a && b;
  } else {
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg: return a + b;
      case ReduceOp::product: return product_of(a, b);
      case ReduceOp::min:
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Int128>) return a < b || a != a ? a : b;
        break;
      case ReduceOp::max:
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Int128>) return a > b || a != a ? a : b;
        break;
    }
    return a;
  }
}

template <class T>
T quotient(T sum, Index divisor) {
  return sum / static_cast<T>(divisor);
}
template <class T>
std::complex<T> quotient(std::complex<T> sum, Index divisor) {
  const auto by = static_cast<T>(divisor);
  return {sum.real() / by, sum.imag() / by};
}

template <class Format>
typename Format::Wide bound_of(bool lowest) {
  using Wide = typename Format::Wide;
  using Limits = std::numeric_limits<Wide>;
  if constexpr (std::is_same_v<Format, AsFloat<narrow::kF8e4m3, std::uint8_t>>) {
    const Wide largest = Format::widen(narrow::kF8e4m3.largest);
    return lowest ? -largest : largest;
  } else if constexpr (std::is_floating_point_v<Wide>) {
    return lowest ? -Limits::infinity() : Limits::infinity();
  } else if constexpr (!is_complex_format<Format>) {
    return lowest ? Limits::min() : Limits::max();
  } else {
    return {};
  }
}

}  // namespace

void fold_element(ReduceOp op, Dtype dtype, std::span<const std::byte* const> terms, Index divisor, std::byte* result) {
  with_element_format(dtype, [&]<class Format>(Format) {
    using Wide = typename Format::Wide;
    auto value = static_cast<Folded<Wide>>(load_element<Format>(terms.front()));
    for (const std::byte* term : terms.subspan(1))
      value = combined(op, value, static_cast<Folded<Wide>>(load_element<Format>(term)));
    if constexpr (!std::is_same_v<Wide, bool>)
      if (op == ReduceOp::avg) value = quotient(value, divisor);
    store_element<Format>(static_cast<Wide>(value), result);
  });
}

void write_identity(ReduceOp op, Dtype dtype, std::byte* at) {
  with_element_format(dtype, [&]<class Format>(Format) {
    using Wide = typename Format::Wide;
    Wide value = Wide(0);
    if (op == ReduceOp::product) value = Wide(1);
    if (op == ReduceOp::min || op == ReduceOp::max) value = bound_of<Format>(op == ReduceOp::max);
    store_element<Format>(value, at);
  });
}

bool is_real_number(Dtype dtype) {
  return with_element_format(dtype, []<class Format>(Format) { return !std::is_integral_v<typename Format::Wide>; });
}

double element_value(Dtype dtype, const std::byte* at) {
  return with_element_format(dtype, [&]<class Format>(Format) {
    const typename Format::Wide value = load_element<Format>(at);
    if constexpr (is_complex_format<Format>) {
      return static_cast<double>(value.real());
    } else {
      return static_cast<double>(value);
    }
  });
}

}  // namespace reshard::simulation
