#include "kernel/cast.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>

#include "kernel/cast_value.h"

namespace reshard {
namespace {

using narrow::NarrowFloat;

// How an element lies in memory, the type that carries it, and how a carried value becomes one.
template <class T>
struct IntegerCast {
  using Stored = T;
  using Carrier = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>;
  static Carrier carried(Stored value) { return value; }
  template <class From>
  static Stored made(From value) {
    return kernel::nearest_integer<T>(value);
  }
};
template <class T>
struct FloatCast {
  using Stored = T;
  using Carrier = T;
  static Carrier carried(Stored value) { return value; }
  template <class From>
  static Stored made(From value) {
    return kernel::nearest_float<T>(value);
  }
};
template <NarrowFloat F, class Bits>
struct NarrowCast {
  using Stored = Bits;
  using Carrier = float;
  static Carrier carried(Stored bits) { return narrow::widened<F>(bits); }
  template <class From>
  static Stored made(From value) {
    return static_cast<Stored>(kernel::nearest_narrow<F>(value));
  }
};
// Any byte but 0 is true.
struct TruthCast {
  using Stored = std::uint8_t;
  using Carrier = std::int64_t;
  static Carrier carried(Stored byte) { return byte != 0 ? 1 : 0; }
  template <class From>
  static Stored made(From value) {
    return value != 0 ? 1 : 0;
  }
};
template <class T>
struct ComplexCast {
  using Stored = std::complex<T>;
  using Carrier = std::complex<double>;
  static Carrier carried(Stored value) { return value; }
  static Stored made(Carrier value) {
    return {kernel::nearest_float<T>(value.real()), kernel::nearest_float<T>(value.imag())};
  }
  template <class From>
  static Stored made(From value) {
    return {kernel::nearest_float<T>(value), 0};
  }
};

template <class F>
auto with_cast(Dtype dtype, F f) {
  switch (dtype) {
    case Dtype::boolean: return f(TruthCast{});
    case Dtype::u8: return f(IntegerCast<std::uint8_t>{});
    case Dtype::i8: return f(IntegerCast<std::int8_t>{});
    case Dtype::u16: return f(IntegerCast<std::uint16_t>{});
    case Dtype::i16: return f(IntegerCast<std::int16_t>{});
    case Dtype::u32: return f(IntegerCast<std::uint32_t>{});
    case Dtype::i32: return f(IntegerCast<std::int32_t>{});
    case Dtype::u64: return f(IntegerCast<std::uint64_t>{});
    case Dtype::i64: return f(IntegerCast<std::int64_t>{});
    case Dtype::f8e4m3: return f(NarrowCast<narrow::kF8e4m3, std::uint8_t>{});
    case Dtype::f8e5m2: return f(NarrowCast<narrow::kF8e5m2, std::uint8_t>{});
    case Dtype::f16: return f(NarrowCast<narrow::kF16, std::uint16_t>{});
    case Dtype::bf16: return f(NarrowCast<narrow::kBf16, std::uint16_t>{});
    case Dtype::f32: return f(FloatCast<float>{});
    case Dtype::f64: return f(FloatCast<double>{});
    case Dtype::complex64: return f(ComplexCast<float>{});
    case Dtype::complex128: break;
  }
  return f(ComplexCast<double>{});
}

constexpr bool is_complex(Dtype dtype) { return dtype == Dtype::complex64 || dtype == Dtype::complex128; }

// A tile stays in the nearest cache between load and store.
constexpr Index kCastTile = 256;
constexpr std::size_t kCarrierBytes = sizeof(std::complex<double>);

template <class T>
T at(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

// A step known when this is compiled makes vector code.
template <class T, class Visit>
void for_each_step(Index step, Index count, Visit visit) {
  constexpr Index packed = sizeof(T);
  if (step == packed) {
    for (Index i = 0; i < count; ++i) visit(i, i * packed);
  } else {
    for (Index i = 0; i < count; ++i) visit(i, i * step);
  }
}

template <class Format>
void load_tile(std::byte* tile, const std::byte* source, Index step, Index count) {
  using Carrier = typename Format::Carrier;
  for_each_step<typename Format::Stored>(step, count, [&](Index i, Index offset) {
    const Carrier value = Format::carried(at<typename Format::Stored>(source + offset));
    std::memcpy(tile + i * static_cast<Index>(sizeof(Carrier)), &value, sizeof(Carrier));
  });
}

template <class Format, class Carrier>
void store_tile(std::byte* target, Index step, const std::byte* tile, Index count) {
  for_each_step<typename Format::Stored>(step, count, [&](Index i, Index offset) {
    const auto value = Format::made(at<Carrier>(tile + i * static_cast<Index>(sizeof(Carrier))));
    std::memcpy(target + offset, &value, sizeof(value));
  });
}

using StoreTile = void (*)(std::byte* target, Index step, const std::byte* tile, Index count);

template <class Carrier>
StoreTile store_of(Dtype dtype) {
  return with_cast(dtype, []<class Format>(Format) -> StoreTile {
    constexpr bool drops = std::is_same_v<Carrier, std::complex<double>> &&
                           !std::is_same_v<typename Format::Carrier, std::complex<double>>;
    if constexpr (drops) {
      return nullptr;
    } else {
      return store_tile<Format, Carrier>;
    }
  });
}

}  // namespace

bool CastKernel::exists(Dtype source, Dtype target) { return !is_complex(source) || is_complex(target); }

CastKernel::CastKernel(Dtype source, Dtype target) {
  with_cast(source, [&]<class Format>(Format) {
    load_ = load_tile<Format>;
    store_ = store_of<typename Format::Carrier>(target);
  });
}

void CastKernel::operator()(std::byte* target, Index target_step, const std::byte* source, Index source_step,
                            Index count) const {
  alignas(64) std::array<std::byte, kCastTile * kCarrierBytes> tile;
  for (Index first = 0; first < count; first += kCastTile) {
    const Index n = std::min(kCastTile, count - first);
    load_(tile.data(), source + first * source_step, source_step, n);
    store_(target + first * target_step, target_step, tile.data(), n);
  }
}

}  // namespace reshard
