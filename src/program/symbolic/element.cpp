// Single elements as integers.
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/narrow_float.h"
#include "reshard/unroll.h"

namespace reshard {
namespace {

template <class T>
T loaded(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void store(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof value);
}

template <class T>
Index whole(T value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<Index>(std::llrint(value));
  return static_cast<Index>(value);
}

template <narrow::NarrowFloat F, class Bits>
struct NarrowElement {
  static Index read(const std::byte* at) { return whole(narrow::widened<F>(loaded<Bits>(at))); }
  static void write(Index value, std::byte* at) {
    store(static_cast<Bits>(narrow::narrowed<F>(static_cast<float>(value))), at);
  }
};

template <class T>
struct PlainElement {
  static Index read(const std::byte* at) { return whole(loaded<T>(at)); }
  static void write(Index value, std::byte* at) { store(static_cast<T>(value), at); }
};

template <class T>
struct ComplexElement {
  static Index read(const std::byte* at) { return whole(loaded<T>(at)); }
  static void write(Index value, std::byte* at) {
    store(static_cast<T>(value), at);
    store(T{0}, at + sizeof(T));
  }
};

struct TruthElement {
  static Index read(const std::byte* at) { return *at != std::byte{0}; }
  static void write(Index value, std::byte* at) { *at = std::byte{value != 0}; }
};

template <class Use>
auto with_element(Dtype dtype, const Use& use) {
  switch (dtype) {
    case Dtype::boolean: return use(TruthElement{});
    case Dtype::u8: return use(PlainElement<std::uint8_t>{});
    case Dtype::i8: return use(PlainElement<std::int8_t>{});
    case Dtype::u16: return use(PlainElement<std::uint16_t>{});
    case Dtype::i16: return use(PlainElement<std::int16_t>{});
    case Dtype::u32: return use(PlainElement<std::uint32_t>{});
    case Dtype::i32: return use(PlainElement<std::int32_t>{});
    case Dtype::u64: return use(PlainElement<std::uint64_t>{});
    case Dtype::i64: return use(PlainElement<std::int64_t>{});
    case Dtype::f8e4m3: return use(NarrowElement<narrow::kF8e4m3, std::uint8_t>{});
    case Dtype::f8e5m2: return use(NarrowElement<narrow::kF8e5m2, std::uint8_t>{});
    case Dtype::f16: return use(NarrowElement<narrow::kF16, std::uint16_t>{});
    case Dtype::bf16: return use(NarrowElement<narrow::kBf16, std::uint16_t>{});
    case Dtype::f32: return use(PlainElement<float>{});
    case Dtype::f64: return use(PlainElement<double>{});
    case Dtype::complex64: return use(ComplexElement<float>{});
    case Dtype::complex128: break;
  }
  return use(ComplexElement<double>{});
}

}  // namespace

Index read_element(Dtype dtype, const std::byte* at) {
  return with_element(dtype, [&](auto element) { return element.read(at); });
}

void write_element(Dtype dtype, Index value, std::byte* at) {
  with_element(dtype, [&](auto element) { element.write(value, at); });
}

}  // namespace reshard
