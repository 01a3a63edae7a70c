// Vectors of f32 out of elements and back into them, once for each instruction set that Highway compiles: the vector
// twin of base/narrow_float.h and kernel/cast_value.h, to the bit.
#if defined(RESHARD_KERNEL_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RESHARD_KERNEL_LANES_H
#undef RESHARD_KERNEL_LANES_H
#else
#define RESHARD_KERNEL_LANES_H
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/narrow_float.h"
#include "reshard/index.h"

HWY_BEFORE_NAMESPACE();
namespace reshard::kernel::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

namespace hn = hwy::HWY_NAMESPACE;
using narrow::NarrowFloat;

using Floats = hn::ScalableTag<float>;
using Doubles = hn::ScalableTag<double>;
using Ints = hn::ScalableTag<std::int32_t>;
using Words = hn::ScalableTag<std::uint32_t>;
using Float = hn::Vec<Floats>;
using Double = hn::Vec<Doubles>;
using Int = hn::Vec<Ints>;

constexpr Floats floats;
constexpr Doubles doubles;
constexpr Ints ints;
constexpr Words words;

constexpr Index kLanes = HWY_LANES(float);
constexpr Index kQuad = 4 * kLanes;  // elements handled at a time: one whole vector of bytes

// Four vectors in a row.
template <class V>
struct Four {
  V a, b, c, d;
};
using FloatFour = Four<Float>;
using IntFour = Four<Int>;

template <class T>
T* as(std::byte* at) {
  return reinterpret_cast<T*>(at);
}
template <class T>
const T* as(const std::byte* at) {
  return reinterpret_cast<const T*>(at);
}

// Bypasses the cache if `stream`: `to` then lies at a multiple of the vector.
template <bool stream, class D, class V>
HWY_INLINE void put(V v, D d, hn::TFromD<D>* to) {
  if constexpr (stream) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

HWY_INLINE Float with_one_nan(Float v) {
  return hn::IfThenElse(hn::IsNaN(v), hn::Set(floats, std::numeric_limits<float>::quiet_NaN()), v);
}
HWY_INLINE Double with_one_nan(Double v) {
  return hn::IfThenElse(hn::IsNaN(v), hn::Set(doubles, std::numeric_limits<double>::quiet_NaN()), v);
}

// Patterns in lanes of 32 bits. NaN becomes some NaN.
template <NarrowFloat F>
HWY_INLINE Float widened(Int bits) {
  constexpr int shift = 23 - F.mantissa;
  if constexpr (F.bias == 127) return hn::BitCast(floats, hn::ShiftLeft<shift>(bits));
  constexpr int to_sign = F.sign == 0x80 ? 24 : 16;
  const Int sign = hn::ShiftLeft<to_sign>(hn::And(bits, hn::Set(ints, F.sign)));
  const Int rest = hn::AndNot(hn::Set(ints, F.sign), bits);
  constexpr float least = std::bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - F.bias - F.mantissa) << 23);
  const Int subnormal = hn::BitCast(ints, hn::Mul(hn::ConvertTo(floats, rest), hn::Set(floats, least)));
  const Int normal = hn::Add(hn::ShiftLeft<shift>(rest), hn::Set(ints, (127 - F.bias) << 23));
  const Int finite = hn::IfThenElse(hn::Gt(rest, hn::Set(ints, (1 << F.mantissa) - 1)), normal, subnormal);
  constexpr std::int32_t past = F.overflow == F.nan ? 0x7fc00000 : 0x7f800000;
  const Int top = hn::IfThenElseZero(hn::Gt(rest, hn::Set(ints, F.largest)), hn::Set(ints, past));
  return hn::BitCast(floats, hn::Or(sign, hn::Or(finite, top)));
}

template <NarrowFloat F>
HWY_INLINE Int narrowed(Float value) {
  constexpr int shift = 23 - F.mantissa;
  const Int bits = hn::BitCast(ints, value), rest = hn::And(bits, hn::Set(ints, 0x7fffffff));
  constexpr int to_sign = F.sign == 0x80 ? 24 : 16;
  const Int sign = hn::And(hn::BitCast(ints, hn::ShiftRight<to_sign>(hn::BitCast(words, bits))), hn::Set(ints, F.sign));
  const Int even = hn::And(hn::ShiftRight<shift>(rest), hn::Set(ints, 1));
  const Int half = hn::Add(hn::Add(rest, hn::Set(ints, (1 << (shift - 1)) - 1)), even);
  const Int rounded = hn::Sub(hn::BitCast(ints, hn::ShiftRight<shift>(hn::BitCast(words, half))),
                              hn::Set(ints, (127 - F.bias) << F.mantissa));
  // What overflows is the pattern after the largest.
  static_assert(F.overflow == F.largest + 1);
  Int result = hn::Min(rounded, hn::Set(ints, F.overflow));
  if constexpr (F.bias != 127) {
    constexpr std::int32_t least_normal = (128 - F.bias) << 23, magic = (128 - F.bias + shift) << 23;
    const Float sum = hn::Add(hn::BitCast(floats, rest), hn::BitCast(floats, hn::Set(ints, magic)));
    const Int subnormal = hn::Sub(hn::BitCast(ints, sum), hn::Set(ints, magic));
    result = hn::IfThenElse(hn::Lt(rest, hn::Set(ints, least_normal)), subnormal, result);
  }
  return hn::IfThenElse(hn::Gt(rest, hn::Set(ints, 0x7f800000)), hn::Set(ints, F.nan), hn::Or(sign, result));
}

// bf16 is the high half of an f32: rounded there, for put_high_16.
HWY_INLINE Int rounded_to_high_half(Float value) {
  const Int bits = hn::BitCast(ints, value);
  const Int even = hn::And(hn::BitCast(ints, hn::ShiftRight<16>(hn::BitCast(words, bits))), hn::Set(ints, 1));
  const Int rounded = hn::Add(hn::Add(bits, hn::Set(ints, 0x7fff)), even);
  return hn::IfThenElse(hn::RebindMask(ints, hn::IsNaN(value)), hn::Set(ints, narrow::kBf16.nan << 16), rounded);
}

// Two masks of 64 bits as one of 32.
HWY_INLINE hn::Vec<Words> joined(hn::Mask<Doubles> low, hn::Mask<Doubles> high) {
  return hn::ConcatEven(words, hn::BitCast(words, hn::VecFromMask(doubles, high)),
                        hn::BitCast(words, hn::VecFromMask(doubles, low)));
}

// To nearest even.
HWY_INLINE Float demoted(Double low, Double high) {
  const hn::Half<Floats> half;
  return hn::Combine(floats, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

// Cut off, with the last bit set where anything was lost.
HWY_INLINE Float rounded_to_odd(Double low, Double high) {
  const hn::Half<Floats> half;
  const Float nearest = demoted(low, high);
  const Double back_low = hn::PromoteTo(doubles, hn::LowerHalf(half, nearest));
  const Double back_high = hn::PromoteTo(doubles, hn::UpperHalf(half, nearest));
  const auto past = joined(hn::Gt(hn::Abs(back_low), hn::Abs(low)), hn::Gt(hn::Abs(back_high), hn::Abs(high)));
  const auto same =
      joined(hn::Or(hn::Eq(back_low, low), hn::IsNaN(low)), hn::Or(hn::Eq(back_high, high), hn::IsNaN(high)));
  const auto bits = hn::BitCast(words, nearest);
  const auto cut = hn::Or(hn::Add(bits, past), hn::Set(words, 1));  // a mask is -1: one toward zero
  return hn::BitCast(floats, hn::IfVecThenElse(same, bits, cut));
}

// Low halves and quarters of lanes of 32 bits.
template <bool stream>
HWY_INLINE void put_low_16(IntFour v, std::byte* to) {
  const hn::ScalableTag<std::uint16_t> d;
  put<stream>(hn::ConcatEven(d, hn::BitCast(d, v.b), hn::BitCast(d, v.a)), d, as<std::uint16_t>(to));
  put<stream>(hn::ConcatEven(d, hn::BitCast(d, v.d), hn::BitCast(d, v.c)), d, as<std::uint16_t>(to) + 2 * kLanes);
}
template <bool stream>
HWY_INLINE void put_high_16(IntFour v, std::byte* to) {
  const hn::ScalableTag<std::uint16_t> d;
  put<stream>(hn::ConcatOdd(d, hn::BitCast(d, v.b), hn::BitCast(d, v.a)), d, as<std::uint16_t>(to));
  put<stream>(hn::ConcatOdd(d, hn::BitCast(d, v.d), hn::BitCast(d, v.c)), d, as<std::uint16_t>(to) + 2 * kLanes);
}
template <bool stream>
HWY_INLINE void put_low_8(IntFour v, std::byte* to) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::ScalableTag<std::uint8_t> bytes;
  const auto low = hn::ConcatEven(d, hn::BitCast(d, v.b), hn::BitCast(d, v.a));
  const auto high = hn::ConcatEven(d, hn::BitCast(d, v.d), hn::BitCast(d, v.c));
  put<stream>(hn::ConcatEven(bytes, hn::BitCast(bytes, high), hn::BitCast(bytes, low)), bytes, as<std::uint8_t>(to));
}

template <class V, class D>
HWY_INLINE Four<V> loaded(D d, const hn::TFromD<D>* from) {
  constexpr Index n = HWY_LANES(hn::TFromD<D>);
  return {hn::LoadU(d, from), hn::LoadU(d, from + n), hn::LoadU(d, from + 2 * n), hn::LoadU(d, from + 3 * n)};
}

// Elements of `T` in lanes of 32 bits, with their sign if they have one.
template <class T>
HWY_INLINE IntFour promoted(const std::byte* from) {
  const hn::Rebind<T, Ints> d;
  const T* at = as<T>(from);
  return {hn::PromoteTo(ints, hn::LoadU(d, at)), hn::PromoteTo(ints, hn::LoadU(d, at + kLanes)),
          hn::PromoteTo(ints, hn::LoadU(d, at + 2 * kLanes)), hn::PromoteTo(ints, hn::LoadU(d, at + 3 * kLanes))};
}

// How kQuad elements that f32 holds exactly are loaded and stored.
struct FloatElements {
  static constexpr Index kBytes = 4;
  static HWY_INLINE FloatFour load(const std::byte* from) { return loaded<Float>(floats, as<float>(from)); }
  template <bool stream>
  static HWY_INLINE void store(FloatFour v, std::byte* to) {
    put<stream>(with_one_nan(v.a), floats, as<float>(to));
    put<stream>(with_one_nan(v.b), floats, as<float>(to) + kLanes);
    put<stream>(with_one_nan(v.c), floats, as<float>(to) + 2 * kLanes);
    put<stream>(with_one_nan(v.d), floats, as<float>(to) + 3 * kLanes);
  }
};
template <NarrowFloat F, class Bits>
struct NarrowElements {
  static constexpr Index kBytes = sizeof(Bits);
  static HWY_INLINE FloatFour load(const std::byte* from) {
    const IntFour v = promoted<Bits>(from);
    return {widened<F>(v.a), widened<F>(v.b), widened<F>(v.c), widened<F>(v.d)};
  }
  template <bool stream>
  static HWY_INLINE void store(FloatFour v, std::byte* to) {
    if constexpr (F.bias == 127)
      return put_high_16<stream>(
          {rounded_to_high_half(v.a), rounded_to_high_half(v.b), rounded_to_high_half(v.c), rounded_to_high_half(v.d)},
          to);
    const IntFour bits{narrowed<F>(v.a), narrowed<F>(v.b), narrowed<F>(v.c), narrowed<F>(v.d)};
    if constexpr (kBytes == 1) {
      put_low_8<stream>(bits, to);
    } else {
      put_low_16<stream>(bits, to);
    }
  }
};

#endif
}  // namespace reshard::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
