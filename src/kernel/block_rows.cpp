#include "kernel/block_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernel/cast_value.h"
#include "kernel/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/block_rows.cpp"
#include <hwy/foreach_target.h>

#include "kernel/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace reshard::kernel::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// The twin: one element at a time.
struct FloatElement {
  static constexpr Index kBytes = 4;
  static float load(const std::byte* from) {
    float value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  static void store(float value, std::byte* to) {
    value = nearest_float<float>(value);
    std::memcpy(to, &value, sizeof(value));
  }
};
template <narrow::NarrowFloat F, class Bits>
struct NarrowElement {
  static constexpr Index kBytes = sizeof(Bits);
  static float load(const std::byte* from) {
    Bits bits;
    std::memcpy(&bits, from, sizeof(bits));
    return narrow::widened<F>(bits);
  }
  static void store(float value, std::byte* to) {
    const auto bits = static_cast<Bits>(narrow::narrowed<F>(value));
    std::memcpy(to, &bits, sizeof(bits));
  }
};

template <class Values>
float amax_of(const std::byte* values, Index count) {
  float amax = 0;
  for (Index i = 0; i < count; ++i) {
    const float size = std::fabs(Values::load(values + i * Values::kBytes));
    if (size <= std::numeric_limits<float>::max()) amax = std::max(amax, size);
  }
  return amax;
}
template <class Values, class Quantised>
void quantise_row(std::byte* quantised, const std::byte* values, Index count, float scale) {
  for (Index i = 0; i < count; ++i) Quantised::store(Values::load(values + i * Values::kBytes) / scale, quantised + i);
}
template <class Values, class Quantised>
void dequantise_row(std::byte* values, const std::byte* quantised, Index count, float scale) {
  for (Index i = 0; i < count; ++i) Values::store(Quantised::load(quantised + i) * scale, values + i * Values::kBytes);
}

#else

using FloatElement = FloatElements;
template <NarrowFloat F, class Bits>
using NarrowElement = NarrowElements<F, Bits>;

// Up to kQuad elements where a whole group of them may be read or written; zeros fill it.
template <class E>
struct Margin {
  alignas(64) std::array<std::byte, kQuad * E::kBytes> bytes{};
  Margin() = default;
  Margin(const std::byte* from, Index count) {
    std::memcpy(bytes.data(), from, static_cast<std::size_t>(count * E::kBytes));
  }
};

// As integers, whose order is that of positive floats.
HWY_INLINE Int finite_size(Float v) {
  const Int size = hn::And(hn::BitCast(ints, v), hn::Set(ints, 0x7fffffff));
  return hn::IfThenElseZero(hn::Lt(size, hn::Set(ints, 0x7f800000)), size);
}
HWY_INLINE Int finite_size(FloatFour v) {
  return hn::Max(hn::Max(finite_size(v.a), finite_size(v.b)), hn::Max(finite_size(v.c), finite_size(v.d)));
}

template <class Values>
float amax_of(const std::byte* values, Index count) {
  Int most = hn::Zero(ints);
  Index i = 0;
  for (; i + kQuad <= count; i += kQuad) most = hn::Max(most, finite_size(Values::load(values + i * Values::kBytes)));
  if (i < count) {
    const Margin<Values> rest(values + i * Values::kBytes, count - i);
    most = hn::Max(most, finite_size(Values::load(rest.bytes.data())));
  }
  return std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(ints, most)));
}

HWY_INLINE FloatFour quotient(FloatFour v, Float by) {
  return {hn::Div(v.a, by), hn::Div(v.b, by), hn::Div(v.c, by), hn::Div(v.d, by)};
}
HWY_INLINE FloatFour product(FloatFour v, Float by) {
  return {hn::Mul(v.a, by), hn::Mul(v.b, by), hn::Mul(v.c, by), hn::Mul(v.d, by)};
}

template <class Values, class Quantised>
void quantise_row(std::byte* quantised, const std::byte* values, Index count, float scale) {
  const Float by = hn::Set(floats, scale);
  Index i = 0;
  for (; i + kQuad <= count; i += kQuad)
    Quantised::template store<false>(quotient(Values::load(values + i * Values::kBytes), by), quantised + i);
  if (i == count) return;
  const Margin<Values> in(values + i * Values::kBytes, count - i);
  Margin<Quantised> out;
  Quantised::template store<false>(quotient(Values::load(in.bytes.data()), by), out.bytes.data());
  std::memcpy(quantised + i, out.bytes.data(), static_cast<std::size_t>(count - i));
}

template <class Values, class Quantised>
void dequantise_row(std::byte* values, const std::byte* quantised, Index count, float scale) {
  const Float by = hn::Set(floats, scale);
  Index i = 0;
  for (; i + kQuad <= count; i += kQuad)
    Values::template store<false>(product(Quantised::load(quantised + i), by), values + i * Values::kBytes);
  if (i == count) return;
  const Margin<Quantised> in(quantised + i, count - i);
  Margin<Values> out;
  Values::template store<false>(product(Quantised::load(in.bytes.data()), by), out.bytes.data());
  std::memcpy(values + i * Values::kBytes, out.bytes.data(), static_cast<std::size_t>((count - i) * Values::kBytes));
}

#endif

template <class Values, class Quantised>
BlockRows block_rows_of() {
  return {amax_of<Values>, quantise_row<Values, Quantised>, dequantise_row<Values, Quantised>};
}

template <class Quantised>
BlockRows block_rows_to(Dtype values) {
  switch (values) {
    case Dtype::f32: return block_rows_of<FloatElement, Quantised>();
    case Dtype::f16: return block_rows_of<NarrowElement<narrow::kF16, std::uint16_t>, Quantised>();
    case Dtype::bf16: return block_rows_of<NarrowElement<narrow::kBf16, std::uint16_t>, Quantised>();
    default: return {};
  }
}

BlockRows block_rows_between(Dtype values, Dtype quantised) {
  if (quantised == Dtype::f8e4m3) return block_rows_to<NarrowElement<narrow::kF8e4m3, std::uint8_t>>(values);
  if (quantised == Dtype::f8e5m2) return block_rows_to<NarrowElement<narrow::kF8e5m2, std::uint8_t>>(values);
  return {};
}

}  // namespace reshard::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reshard::kernel {

HWY_EXPORT(block_rows_between);

BlockRows block_rows(Dtype values, Dtype quantised) {
  return HWY_DYNAMIC_DISPATCH(block_rows_between)(values, quantised);
}

}  // namespace reshard::kernel
#endif
