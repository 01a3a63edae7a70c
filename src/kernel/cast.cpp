#include "kernel/cast.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>

#include "kernel/cast_value.h"
#include "kernel/rows.h"

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

// What f32 holds exactly, so that the way there rounds nothing.
bool is_exact_in_f32(Dtype dtype) { return (dtype != Dtype::boolean && bytes_of(dtype) <= 2) || dtype == Dtype::f32; }

}  // namespace

bool CastKernel::exists(Dtype source, Dtype target) { return !is_complex(source) || is_complex(target); }

CastKernel::CastKernel(Dtype source, Dtype target)
    : source_bytes_(bytes_of(source)), target_bytes_(bytes_of(target)), rows_(kernel::cast_rows(source, target)) {
  with_cast(source, [&]<class Format>(Format) {
    load_ = load_tile<Format>;
    store_ = store_of<typename Format::Carrier>(target);
  });
  if (rows_.plain != nullptr || !is_exact_in_f32(source)) return;
  from_f32_ = kernel::cast_rows(Dtype::f32, target);
  if (from_f32_.plain != nullptr) rows_ = kernel::cast_rows(source, Dtype::f32);
}

void CastKernel::run_without_vectors(std::byte* target, Index target_step, const std::byte* source, Index source_step,
                                     Index count) const {
  alignas(64) std::array<std::byte, kCastTile * kCarrierBytes> tile;
  for (Index first = 0; first < count; first += kCastTile) {
    const Index n = std::min(kCastTile, count - first);
    load_(tile.data(), source + first * source_step, source_step, n);
    store_(target + first * target_step, target_step, tile.data(), n);
  }
}

void CastKernel::run_by_way_of_f32(std::byte* target, const std::byte* source, Index count, bool stream) const {
  alignas(64) std::array<std::byte, kCastTile * sizeof(float)> tile;
  // The first piece ends where a cache line of the target does, so that all others begin at one.
  const auto odd = static_cast<Index>(reinterpret_cast<std::uintptr_t>(target) % 64);
  Index n = kCastTile - odd / target_bytes_;
  for (Index first = 0; first < count; first += n, n = kCastTile) {
    n = std::min(n, count - first);
    rows_.plain(tile.data(), source + first * source_bytes_, n);
    (stream ? from_f32_.streamed : from_f32_.plain)(target + first * target_bytes_, tile.data(), n);
  }
}

void CastKernel::run_packed(std::byte* target, const std::byte* source, Index count, bool stream) const {
  if (from_f32_.plain != nullptr) return run_by_way_of_f32(target, source, count, stream);
  (stream ? rows_.streamed : rows_.plain)(target, source, count);
}

void CastKernel::run(std::byte* target, Index target_step, const std::byte* source, Index source_step, Index count,
                     bool stream) const {
  if (rows_.plain == nullptr) return run_without_vectors(target, target_step, source, source_step, count);
  const bool packs = source_step != source_bytes_, scatters = target_step != target_bytes_;
  if (!packs && !scatters) return run_packed(target, source, count, stream);
  alignas(64) std::array<std::byte, kCastTile * sizeof(double)> in, out;
  for (Index first = 0; first < count; first += kCastTile) {
    const Index n = std::min(kCastTile, count - first);
    const std::byte* from = source + first * source_step;
    std::byte* to = target + first * target_step;
    if (packs)
      kernel::row_loop_for(source_bytes_, kernel::Streaming::none)(in.data(), from, {n, source_step, source_bytes_},
                                                                   source_bytes_);
    run_packed(scatters ? out.data() : to, packs ? in.data() : from, n, stream && !scatters);
    if (scatters)
      kernel::row_loop_for(target_bytes_, kernel::Streaming::none)(to, out.data(), {n, target_bytes_, target_step},
                                                                   target_bytes_);
  }
}

}  // namespace reshard
