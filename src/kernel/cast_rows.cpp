#include "kernel/cast_rows.h"

#include <algorithm>
#include <array>

#include "kernel/stream.h"
#include "kernel/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/cast_rows.cpp"
#include <hwy/foreach_target.h>

#include "kernel/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace reshard::kernel::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

CastRows rows_of(Dtype, Dtype) { return {}; }

#else

// Integers of 8 and 16 bits, which f32 holds exactly; stored to nearest even, saturated, and NaN as 0.
template <class T>
struct IntegerElements {
  static constexpr Index kBytes = sizeof(T);
  static HWY_INLINE FloatFour load(const std::byte* from) {
    const IntFour v = promoted<T>(from);
    return {hn::ConvertTo(floats, v.a), hn::ConvertTo(floats, v.b), hn::ConvertTo(floats, v.c),
            hn::ConvertTo(floats, v.d)};
  }
  static HWY_INLINE Int nearest(Float v) {
    using Limits = std::numeric_limits<T>;
    const Float number = hn::IfThenZeroElse(hn::IsNaN(v), v);
    return hn::NearestInt(hn::Min(hn::Max(number, hn::Set(floats, Limits::min())), hn::Set(floats, Limits::max())));
  }
  template <bool stream>
  static HWY_INLINE void store(FloatFour v, std::byte* to) {
    const IntFour whole{nearest(v.a), nearest(v.b), nearest(v.c), nearest(v.d)};
    if constexpr (kBytes == 1) {
      put_low_8<stream>(whole, to);
    } else {
      put_low_16<stream>(whole, to);
    }
  }
};

// As a source rounded to f32, which is the end of it: not for other targets.
struct IntElements {
  static constexpr Index kBytes = 4;
  static HWY_INLINE FloatFour load(const std::byte* from) {
    const IntFour v = loaded<Int>(ints, as<std::int32_t>(from));
    return {hn::ConvertTo(floats, v.a), hn::ConvertTo(floats, v.b), hn::ConvertTo(floats, v.c),
            hn::ConvertTo(floats, v.d)};
  }
  static HWY_INLINE Int nearest(Float v) {
    const auto past = hn::RebindMask(ints, hn::Ge(v, hn::Set(floats, 0x1p31f)));
    const auto least = hn::RebindMask(ints, hn::Lt(v, hn::Set(floats, -0x1p31f)));
    const Float inside = hn::IfThenElse(hn::Lt(hn::Abs(v), hn::Set(floats, 0x1p31f)), v, hn::Zero(floats));
    const Int whole =
        hn::IfThenElse(past, hn::Set(ints, std::numeric_limits<std::int32_t>::max()), hn::NearestInt(inside));
    const auto lowest = hn::Or(least, hn::RebindMask(ints, hn::Eq(v, hn::Set(floats, -0x1p31f))));
    return hn::IfThenElse(lowest, hn::Set(ints, std::numeric_limits<std::int32_t>::min()), whole);
  }
  template <bool stream>
  static HWY_INLINE void store(FloatFour v, std::byte* to) {
    put<stream>(nearest(v.a), ints, as<std::int32_t>(to));
    put<stream>(nearest(v.b), ints, as<std::int32_t>(to) + kLanes);
    put<stream>(nearest(v.c), ints, as<std::int32_t>(to) + 2 * kLanes);
    put<stream>(nearest(v.d), ints, as<std::int32_t>(to) + 3 * kLanes);
  }
};

// f64 on its way to f32, or to what is narrower still.
template <bool to_odd>
struct DoubleElements {
  static constexpr Index kBytes = 8;
  static HWY_INLINE Float pair(const double* from) {
    const Double low = hn::LoadU(doubles, from), high = hn::LoadU(doubles, from + kLanes / 2);
    if constexpr (to_odd) return rounded_to_odd(low, high);
    return demoted(low, high);
  }
  static HWY_INLINE FloatFour load(const std::byte* from) {
    const auto* at = as<double>(from);
    return {pair(at), pair(at + kLanes), pair(at + 2 * kLanes), pair(at + 3 * kLanes)};
  }
};

struct WidenedElements {
  static constexpr Index kBytes = 8;
  template <bool stream>
  static HWY_INLINE void pair(Float v, double* to) {
    const hn::Half<Floats> half;
    put<stream>(with_one_nan(hn::PromoteTo(doubles, hn::LowerHalf(half, v))), doubles, to);
    put<stream>(with_one_nan(hn::PromoteTo(doubles, hn::UpperHalf(half, v))), doubles, to + kLanes / 2);
  }
  template <bool stream>
  static HWY_INLINE void store(FloatFour v, std::byte* to) {
    auto* at = as<double>(to);
    pair<stream>(v.a, at);
    pair<stream>(v.b, at + kLanes);
    pair<stream>(v.c, at + 2 * kLanes);
    pair<stream>(v.d, at + 3 * kLanes);
  }
};

template <class From, class To>
void plain_row(std::byte* target, const std::byte* source, Index count) {
  Index i = 0;
  for (; i + kQuad <= count; i += kQuad)
    To::template store<false>(From::load(source + i * From::kBytes), target + i * To::kBytes);
  if (i == count) return;
  alignas(64) std::array<std::byte, kQuad * From::kBytes> in{};
  alignas(64) std::array<std::byte, kQuad * To::kBytes> out;
  std::memcpy(in.data(), source + i * From::kBytes, static_cast<std::size_t>((count - i) * From::kBytes));
  To::template store<false>(From::load(in.data()), out.data());
  std::memcpy(target + i * To::kBytes, out.data(), static_cast<std::size_t>((count - i) * To::kBytes));
}

// One group of a stream, whose source is fetched ahead.
template <class From, class To, bool fetches = true>
HWY_INLINE void stream_quad(std::byte* target, const std::byte* source) {
  for (Index line = 0; fetches && line < kQuad * From::kBytes; line += kLineBytes)
    prefetch(source, kAheadInCast + line);
  To::template store<true>(From::load(source), target);
}

// Long rows from both halves at once, as stream_halves() copies them.
template <class From, class To>
void streamed_row(std::byte* target, const std::byte* source, Index count) {
  const Index odd = static_cast<Index>(reinterpret_cast<std::uintptr_t>(target) % kLineBytes);
  if (odd % To::kBytes != 0) return plain_row<From, To>(target, source, count);
  const Index head = std::min(count, (kLineBytes - odd) % kLineBytes / To::kBytes);
  plain_row<From, To>(target, source, head);
  Index i = head;
  // Halves are whole lines of the target.
  constexpr Index kStep = std::max(kQuad, kLineBytes / To::kBytes);
  const Index half = (count - head) * To::kBytes >= kLeastHalved ? (count - head) / 2 / kStep * kStep : 0;
  for (; i < head + half; i += kQuad) {
    stream_quad<From, To>(target + i * To::kBytes, source + i * From::kBytes);
    stream_quad<From, To>(target + (i + half) * To::kBytes, source + (i + half) * From::kBytes);
  }
  i += half;
  // What follows the row may be of no use.
  const Index last = count - kQuad, last_fetched = last - kAheadInCast / From::kBytes;
  for (; i <= last_fetched; i += kQuad) stream_quad<From, To>(target + i * To::kBytes, source + i * From::kBytes);
  for (; i <= last; i += kQuad) stream_quad<From, To, false>(target + i * To::kBytes, source + i * From::kBytes);
  plain_row<From, To>(target + i * To::kBytes, source + i * From::kBytes, count - i);
}

template <class From, class To>
CastRows both() {
  return {plain_row<From, To>, streamed_row<From, To>};
}

template <class From>
CastRows to_narrow(Dtype target) {
  switch (target) {
    case Dtype::f8e4m3: return both<From, NarrowElements<narrow::kF8e4m3, std::uint8_t> >();
    case Dtype::f8e5m2: return both<From, NarrowElements<narrow::kF8e5m2, std::uint8_t> >();
    case Dtype::f16: return both<From, NarrowElements<narrow::kF16, std::uint16_t> >();
    case Dtype::bf16: return both<From, NarrowElements<narrow::kBf16, std::uint16_t> >();
    default: return {};
  }
}

CastRows from_f32(Dtype target) {
  switch (target) {
    case Dtype::u8: return both<FloatElements, IntegerElements<std::uint8_t> >();
    case Dtype::i8: return both<FloatElements, IntegerElements<std::int8_t> >();
    case Dtype::u16: return both<FloatElements, IntegerElements<std::uint16_t> >();
    case Dtype::i16: return both<FloatElements, IntegerElements<std::int16_t> >();
    case Dtype::i32: return both<FloatElements, IntElements>();
    case Dtype::f32: return both<FloatElements, FloatElements>();
    case Dtype::f64: return both<FloatElements, WidenedElements>();
    default: return to_narrow<FloatElements>(target);
  }
}

CastRows to_f32(Dtype source) {
  switch (source) {
    case Dtype::u8: return both<IntegerElements<std::uint8_t>, FloatElements>();
    case Dtype::i8: return both<IntegerElements<std::int8_t>, FloatElements>();
    case Dtype::u16: return both<IntegerElements<std::uint16_t>, FloatElements>();
    case Dtype::i16: return both<IntegerElements<std::int16_t>, FloatElements>();
    case Dtype::i32: return both<IntElements, FloatElements>();
    case Dtype::f8e4m3: return both<NarrowElements<narrow::kF8e4m3, std::uint8_t>, FloatElements>();
    case Dtype::f8e5m2: return both<NarrowElements<narrow::kF8e5m2, std::uint8_t>, FloatElements>();
    case Dtype::f16: return both<NarrowElements<narrow::kF16, std::uint16_t>, FloatElements>();
    case Dtype::bf16: return both<NarrowElements<narrow::kBf16, std::uint16_t>, FloatElements>();
    case Dtype::f64: return both<DoubleElements<false>, FloatElements>();
    default: return {};
  }
}

CastRows rows_of(Dtype source, Dtype target) {
  if (source == Dtype::f32) return from_f32(target);
  if (target == Dtype::f32) return to_f32(source);
  return source == Dtype::f64 ? to_narrow<DoubleElements<true> >(target) : CastRows{};
}

#endif
}  // namespace reshard::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reshard::kernel {

HWY_EXPORT(rows_of);

CastRows cast_rows(Dtype source, Dtype target) { return HWY_DYNAMIC_DISPATCH(rows_of)(source, target); }

}  // namespace reshard::kernel
#endif
