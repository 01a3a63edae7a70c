#include "op/values.h"

#include <cstring>

#include "base/fail.h"
#include "base/narrow_float.h"

namespace reshard::op {
namespace {

constexpr std::uint64_t kOddA = 0xbf58476d1ce4e5b9u, kOddB = 0x94d049bb133111ebu;

// splitmix64.
std::uint64_t scattered(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * kOddA;
  x = (x ^ (x >> 27)) * kOddB;
  return x ^ (x >> 31);
}

double fraction_of(std::uint64_t random) {
  return static_cast<double>(static_cast<std::int64_t>(random) >> 11) * 0x1p-52;
}

// In [-greatest, greatest].
float small_integer(std::uint64_t random, int greatest) {
  return static_cast<float>(static_cast<std::int64_t>(random % (2 * static_cast<std::uint64_t>(greatest) + 1)) -
                            greatest);
}

template <class T>
void store(std::byte* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

template <class T>
T load(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class T>
Number real_number(const std::byte* element) {
  return {.real = static_cast<double>(load<T>(element))};
}

template <class T>
Number complex_number(const std::byte* element) {
  return {.real = static_cast<double>(load<T>(element)),
          .imaginary = static_cast<double>(load<T>(element + sizeof(T)))};
}

template <class T>
void store_complex(std::byte* element, std::uint64_t random) {
  store(element, static_cast<T>(fraction_of(random)));
  store(element + sizeof(T), static_cast<T>(fraction_of(scattered(random))));
}

}  // namespace

bool is_complex(Dtype dtype) { return dtype == Dtype::complex64 || dtype == Dtype::complex128; }

bool is_integer(Dtype dtype) { return dtype >= Dtype::u8 && dtype <= Dtype::i64; }

void write_value(Dtype dtype, std::byte* element, std::uint64_t key) {
  using namespace narrow;
  const std::uint64_t random = scattered(key);
  switch (dtype) {
    case Dtype::f8e4m3: return store(element, static_cast<std::uint8_t>(narrowed<kF8e4m3>(small_integer(random, 2))));
    case Dtype::f8e5m2: return store(element, static_cast<std::uint8_t>(narrowed<kF8e5m2>(small_integer(random, 1))));
    case Dtype::f16: return store(element, static_cast<std::uint16_t>(narrowed<kF16>(small_integer(random, 64))));
    case Dtype::bf16: return store(element, static_cast<std::uint16_t>(narrowed<kBf16>(small_integer(random, 8))));
    case Dtype::f32: return store(element, static_cast<float>(fraction_of(random)));
    case Dtype::f64: return store(element, fraction_of(random));
    case Dtype::complex64: return store_complex<float>(element, random);
    case Dtype::complex128: return store_complex<double>(element, random);
    case Dtype::boolean: fail(Code::unsupported, "bool has no sums: its adjoints cannot be checked");
    default: std::memcpy(element, &random, static_cast<std::size_t>(bytes_of(dtype)));
  }
}

Number read_value(Dtype dtype, const std::byte* element) {
  using namespace narrow;
  switch (dtype) {
    case Dtype::f8e4m3: return {.real = static_cast<double>(widened<kF8e4m3>(load<std::uint8_t>(element)))};
    case Dtype::f8e5m2: return {.real = static_cast<double>(widened<kF8e5m2>(load<std::uint8_t>(element)))};
    case Dtype::f16: return {.real = static_cast<double>(widened<kF16>(load<std::uint16_t>(element)))};
    case Dtype::bf16: return {.real = static_cast<double>(widened<kBf16>(load<std::uint16_t>(element)))};
    case Dtype::f32: return real_number<float>(element);
    case Dtype::f64: return real_number<double>(element);
    case Dtype::complex64: return complex_number<float>(element);
    case Dtype::complex128: return complex_number<double>(element);
    default: {
      Number number;
      std::memcpy(&number.bits, element, static_cast<std::size_t>(bytes_of(dtype)));
      return number;
    }
  }
}

}  // namespace reshard::op
