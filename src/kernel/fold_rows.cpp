#include "kernel/fold_rows.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "kernel/stream.h"
#include "kernel/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/fold_rows.cpp"
#include <hwy/foreach_target.h>

#include "kernel/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace reshard::kernel::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

FoldRows folds_of(ReduceOp, Dtype) { return {}; }

#else

struct Sum {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Product {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    return hn::Mul(a, b);
  }
};
// Of floats: NaN if there is one, and the second of two zeros, as in reduce.cpp. Highway's own may differ in both.
struct Least {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromV<V> >()) return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
    return hn::Min(a, b);
  }
};
struct Most {
  template <class V>
  static HWY_INLINE V of(V a, V b) {
    if constexpr (hwy::IsFloat<hn::TFromV<V> >()) return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
    return hn::Max(a, b);
  }
};

// Elements folded as they are. kGroup of them are handled at a time, in four vectors.
template <class T>
struct Whole {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr Index kBytes = sizeof(T), kLane = HWY_LANES(T), kGroup = 4 * kLane;
  static HWY_INLINE Four<V> load(const std::byte* from) { return loaded<V>(D(), as<T>(from)); }
  static HWY_INLINE V finished(V v) {
    if constexpr (std::is_floating_point_v<T>) return with_one_nan(v);
    return v;
  }
  template <bool stream>
  static HWY_INLINE void store(Four<V> v, std::byte* to) {
    put<stream>(finished(v.a), D(), as<T>(to));
    put<stream>(finished(v.b), D(), as<T>(to) + kLane);
    put<stream>(finished(v.c), D(), as<T>(to) + 2 * kLane);
    put<stream>(finished(v.d), D(), as<T>(to) + 3 * kLane);
  }
};
// Floats of 8 and 16 bits, folded in f32.
template <NarrowFloat F, class Bits>
struct Narrow : NarrowElements<F, Bits> {
  static constexpr Index kGroup = kQuad;
};

template <class V>
HWY_INLINE Four<V> divided(Four<V> v, Index divisor) {
  const hn::DFromV<V> d;
  const V by = hn::Set(d, static_cast<hn::TFromV<V> >(divisor));
  return {hn::Div(v.a, by), hn::Div(v.b, by), hn::Div(v.c, by), hn::Div(v.d, by)};
}

// One group, whose terms `place` finds.
template <class E, class Op, bool divides, bool stream, class Place>
HWY_INLINE void fold_group(std::byte* result, std::size_t terms, const Place& place, Index divisor) {
  auto total = E::load(place(0));
  for (std::size_t t = 1; t < terms; ++t) {
    const auto next = E::load(place(t));
    total = {Op::of(total.a, next.a), Op::of(total.b, next.b), Op::of(total.c, next.c), Op::of(total.d, next.d)};
  }
  if constexpr (divides) total = divided(total, divisor);
  E::template store<stream>(total, result);
}

template <class E>
struct PlaceInTerms {
  std::span<const FoldRow> terms;
  Index first;
  HWY_INLINE const std::byte* operator()(std::size_t t) const { return terms[t].data + first * E::kBytes; }
};
// Of less than a group, copied to where a whole one may be read.
template <class E>
struct PlaceInCopy {
  std::span<const FoldRow> terms;
  Index first;
  Index count;
  std::byte* copy;
  HWY_INLINE const std::byte* operator()(std::size_t t) const {
    std::memcpy(copy, terms[t].data + first * E::kBytes, static_cast<std::size_t>(count * E::kBytes));
    return copy;
  }
};

// Elements [first, end).
template <class E, class Op, bool divides>
void fold_part(std::byte* result, std::span<const FoldRow> terms, Index first, Index end, Index divisor) {
  for (; first + E::kGroup <= end; first += E::kGroup)
    fold_group<E, Op, divides, false>(result + first * E::kBytes, terms.size(), PlaceInTerms<E>{terms, first}, divisor);
  if (first == end) return;
  alignas(64) std::array<std::byte, E::kGroup * E::kBytes> copy{}, out;
  fold_group<E, Op, divides, false>(out.data(), terms.size(), PlaceInCopy<E>{terms, first, end - first, copy.data()},
                                    divisor);
  std::memcpy(result + first * E::kBytes, out.data(), static_cast<std::size_t>((end - first) * E::kBytes));
}

// `wide` elements of a complex number are two.
template <class E, class Op, bool divides, Index wide>
void plain_fold(std::byte* result, std::span<const FoldRow> terms, Index count, Index divisor) {
  fold_part<E, Op, divides>(result, terms, 0, wide * count, divisor);
}

// More terms than this are streams enough.
constexpr std::size_t kMostHalved = 4;

template <class E, class Op, bool divides, Index wide>
void streamed_fold(std::byte* result, std::span<const FoldRow> terms, Index count, Index divisor) {
  const Index end = wide * count, odd = static_cast<Index>(reinterpret_cast<std::uintptr_t>(result) % kLineBytes);
  if (odd % E::kBytes != 0) return fold_part<E, Op, divides>(result, terms, 0, end, divisor);
  const Index head = std::min(end, (kLineBytes - odd) % kLineBytes / E::kBytes);
  fold_part<E, Op, divides>(result, terms, 0, head, divisor);
  const auto stream = [&](Index i) HWY_ATTR {
    fold_group<E, Op, divides, true>(result + i * E::kBytes, terms.size(), PlaceInTerms<E>{terms, i}, divisor);
  };
  // Long rows from both halves at once, as stream_halves() copies them. Halves are whole lines of the result.
  constexpr Index kStep = std::max(E::kGroup, kLineBytes / E::kBytes);
  const bool halves = (end - head) * E::kBytes >= kLeastHalved && terms.size() <= kMostHalved;
  const Index half = halves ? (end - head) / 2 / kStep * kStep : 0;
  Index i = head;
  for (; i < head + half; i += E::kGroup) {
    stream(i);
    stream(i + half);
  }
  i += half;
  for (; i + E::kGroup <= end; i += E::kGroup) stream(i);
  fold_part<E, Op, divides>(result, terms, i, end, divisor);
}

template <class E, class Op, bool divides = false, Index wide = 1>
FoldRows both_folds() {
  return {plain_fold<E, Op, divides, wide>, streamed_fold<E, Op, divides, wide>};
}

template <class E>
FoldRows float_folds(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return both_folds<E, Sum>();
    case ReduceOp::avg: return both_folds<E, Sum, true>();
    case ReduceOp::product: return both_folds<E, Product>();
    case ReduceOp::min: return both_folds<E, Least>();
    case ReduceOp::max: return both_folds<E, Most>();
  }
  return {};
}

template <class E>
FoldRows complex_folds(ReduceOp op) {
  if (op == ReduceOp::sum) return both_folds<E, Sum, false, 2>();
  return op == ReduceOp::avg ? both_folds<E, Sum, true, 2>() : FoldRows{};
}

// Sums and products wrap, so their signs do not matter.
template <class T>
FoldRows integer_folds(ReduceOp op) {
  using Unsigned = Whole<std::make_unsigned_t<T> >;
  if (op == ReduceOp::sum) return both_folds<Unsigned, Sum>();
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4)
    if (op == ReduceOp::product) return both_folds<Unsigned, Product>();
  if (op == ReduceOp::min) return both_folds<Whole<T>, Least>();
  return op == ReduceOp::max ? both_folds<Whole<T>, Most>() : FoldRows{};
}

FoldRows folds_of(ReduceOp op, Dtype dtype) {
  switch (dtype) {
    case Dtype::boolean: return {};
    case Dtype::u8: return integer_folds<std::uint8_t>(op);
    case Dtype::i8: return integer_folds<std::int8_t>(op);
    case Dtype::u16: return integer_folds<std::uint16_t>(op);
    case Dtype::i16: return integer_folds<std::int16_t>(op);
    case Dtype::u32: return integer_folds<std::uint32_t>(op);
    case Dtype::i32: return integer_folds<std::int32_t>(op);
    case Dtype::u64: return integer_folds<std::uint64_t>(op);
    case Dtype::i64: return integer_folds<std::int64_t>(op);
    case Dtype::f8e4m3: return float_folds<Narrow<narrow::kF8e4m3, std::uint8_t> >(op);
    case Dtype::f8e5m2: return float_folds<Narrow<narrow::kF8e5m2, std::uint8_t> >(op);
    case Dtype::f16: return float_folds<Narrow<narrow::kF16, std::uint16_t> >(op);
    case Dtype::bf16: return float_folds<Narrow<narrow::kBf16, std::uint16_t> >(op);
    case Dtype::f32: return float_folds<Whole<float> >(op);
    case Dtype::f64: return float_folds<Whole<double> >(op);
    case Dtype::complex64: return complex_folds<Whole<float> >(op);
    case Dtype::complex128: return complex_folds<Whole<double> >(op);
  }
  return {};
}

#endif
}  // namespace reshard::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reshard::kernel {

HWY_EXPORT(folds_of);

FoldRows fold_rows(ReduceOp op, Dtype dtype) { return HWY_DYNAMIC_DISPATCH(folds_of)(op, dtype); }

}  // namespace reshard::kernel
#endif
