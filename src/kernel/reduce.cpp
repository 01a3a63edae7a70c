#include "kernel/reduce.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/narrow_float.h"
#include "base/reducible.h"
#include "kernel/rows.h"
#include "kernel/stream.h"

namespace reshard {
namespace {

using narrow::NarrowFloat;

__extension__ using Int128 = __int128;

// How an element lies in memory, and in what type it is folded.
template <class T>
struct Plain {
  using Stored = T;
  using Wide = T;
  static Wide widen(Stored value) { return value; }
  static Stored narrow(Wide value) {
    if constexpr (std::is_floating_point_v<T>) return value != value ? std::numeric_limits<T>::quiet_NaN() : value;
    return value;
  }
};

template <NarrowFloat F>
constexpr auto kWidened = [] {
  std::array<float, 256> values{};
  for (std::uint32_t bits = 0; bits < 256; ++bits) values[bits] = narrow::widened<F>(bits);
  return values;
}();

template <NarrowFloat F, class Bits>
struct Narrow {
  using Stored = Bits;
  using Wide = float;
  static Wide widen(Stored bits) {
    if constexpr (sizeof(Bits) == 1) return kWidened<F>[bits];
    return narrow::widened<F>(bits);
  }
  static Stored narrow(Wide value) { return static_cast<Stored>(narrow::narrowed<F>(value)); }
};

template <class T>
struct Complex {
  using Stored = std::complex<T>;
  using Wide = std::complex<T>;
  static Wide widen(Stored value) { return value; }
  static Stored narrow(Wide value) { return {Plain<T>::narrow(value.real()), Plain<T>::narrow(value.imag())}; }
};

// Any byte but 0 is true; results are 0 or 1.
struct Truth {
  using Stored = std::uint8_t;
  using Wide = std::uint8_t;
  static Wide widen(Stored byte) { return byte != 0 ? 1 : 0; }
  static Stored narrow(Wide value) { return value; }
};

// The same elements folded in another integer type: unsigned to wrap, wider to divide.
template <class T, class W>
struct Integer {
  using Stored = T;
  using Wide = W;
  static Wide widen(Stored value) { return static_cast<Wide>(value); }
  static Stored narrow(Wide value) { return static_cast<Stored>(value); }
};

template <class T>
using Wrapping = Integer<T, std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;
template <class T>
using Exact = Integer<T, std::conditional_t<sizeof(T) == 8, Int128, std::int64_t>>;

template <class T>
std::complex<T> multiplied(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
T multiplied(T a, T b) {
  return static_cast<T>(a * b);
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return multiplied(a, b);
  }
};
// NaN, if there is one; without a branch, so that loops become vector code.
struct Less {
  template <class T>
  T operator()(T a, T b) const {
    return ((a < b) | (a != a)) ? a : b;
  }
};
struct Greater {
  template <class T>
  T operator()(T a, T b) const {
    return ((a > b) | (a != a)) ? a : b;
  }
};

template <class T>
T loaded(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// A tile of partial results stays in the nearest cache while the terms pass by.
constexpr Index kReduceTile = 256;

template <class Format, class Apply>
void for_each(const FoldRow& row, Index first, Index count, Apply apply) {
  using Stored = typename Format::Stored;
  constexpr Index packed = sizeof(Stored);
  const std::byte* data = row.data + first * row.step;
  if (row.step == packed) {
    for (Index i = 0; i < count; ++i) apply(i, Format::widen(loaded<Stored>(data + i * packed)));
  } else {
    for (Index i = 0; i < count; ++i) apply(i, Format::widen(loaded<Stored>(data + i * row.step)));
  }
}

template <class Wide>
Wide divided(Wide sum, Index divisor) {
  if constexpr (std::is_same_v<Wide, std::complex<float>> || std::is_same_v<Wide, std::complex<double>>) {
    const auto by = static_cast<typename Wide::value_type>(divisor);
    return {sum.real() / by, sum.imag() / by};
  } else {
    return static_cast<Wide>(sum / static_cast<Wide>(divisor));
  }
}

template <class Format, class Op, bool kDivides>
void fold(std::byte* result, Index result_step, std::span<const FoldRow> terms, Index count, Index divisor) {
  using Wide = typename Format::Wide;
  std::array<Wide, kReduceTile> tile;
  for (Index first = 0; first < count; first += kReduceTile) {
    const Index n = std::min(kReduceTile, count - first);
    for_each<Format>(terms.front(), first, n, [&](Index i, Wide value) { tile[i] = value; });
    for (const FoldRow& term : terms.subspan(1))
      for_each<Format>(term, first, n, [&](Index i, Wide value) { tile[i] = Op()(tile[i], value); });
    for (Index i = 0; i < n; ++i) {
      if constexpr (kDivides) tile[i] = divided(tile[i], divisor);
      const auto element = Format::narrow(tile[i]);
      std::memcpy(result + (first + i) * result_step, &element, sizeof(element));
    }
  }
}

// Calls f with the format of the dtype.
template <class F>
auto with_format(Dtype dtype, F f) {
  switch (dtype) {
    case Dtype::boolean: return f(Truth{});
    case Dtype::u8: return f(Plain<std::uint8_t>{});
    case Dtype::i8: return f(Plain<std::int8_t>{});
    case Dtype::u16: return f(Plain<std::uint16_t>{});
    case Dtype::i16: return f(Plain<std::int16_t>{});
    case Dtype::u32: return f(Plain<std::uint32_t>{});
    case Dtype::i32: return f(Plain<std::int32_t>{});
    case Dtype::u64: return f(Plain<std::uint64_t>{});
    case Dtype::i64: return f(Plain<std::int64_t>{});
    case Dtype::f8e4m3: return f(Narrow<narrow::kF8e4m3, std::uint8_t>{});
    case Dtype::f8e5m2: return f(Narrow<narrow::kF8e5m2, std::uint8_t>{});
    case Dtype::f16: return f(Narrow<narrow::kF16, std::uint16_t>{});
    case Dtype::bf16: return f(Narrow<narrow::kBf16, std::uint16_t>{});
    case Dtype::f32: return f(Plain<float>{});
    case Dtype::f64: return f(Plain<double>{});
    case Dtype::complex64: return f(Complex<float>{});
    case Dtype::complex128: break;
  }
  return f(Complex<double>{});
}

template <class Format>
constexpr bool is_complex_format = std::is_same_v<Format, Complex<float>> || std::is_same_v<Format, Complex<double>>;
template <class Format>
constexpr bool is_integer = std::is_integral_v<typename Format::Wide> && !std::is_same_v<Format, Truth>;

template <class Format>
FoldKernel::Loop loop_of(ReduceOp op) {
  using Stored = typename Format::Stored;
  if constexpr (std::is_same_v<Format, Truth>) {
    return op == ReduceOp::sum || op == ReduceOp::max ? fold<Format, Greater, false> : fold<Format, Less, false>;
  } else if constexpr (is_integer<Format>) {
    switch (op) {
      case ReduceOp::sum: return fold<Wrapping<Stored>, Add, false>;
      case ReduceOp::product: return fold<Wrapping<Stored>, Multiply, false>;
      case ReduceOp::avg: return fold<Exact<Stored>, Add, true>;
      case ReduceOp::min: return fold<Format, Less, false>;
      case ReduceOp::max: return fold<Format, Greater, false>;
    }
  } else {
    switch (op) {
      case ReduceOp::sum: return fold<Format, Add, false>;
      case ReduceOp::product: return fold<Format, Multiply, false>;
      case ReduceOp::avg: return fold<Format, Add, true>;
      case ReduceOp::min:
        if constexpr (!is_complex_format<Format>) return fold<Format, Less, false>;
        break;
      case ReduceOp::max:
        if constexpr (!is_complex_format<Format>) return fold<Format, Greater, false>;
        break;
    }
  }
  return nullptr;
}

// The least value of the format if `sign` is -1, the greatest if it is 1.
template <class Format>
typename Format::Wide extreme(int sign) {
  using Wide = typename Format::Wide;
  using Limits = std::numeric_limits<Wide>;
  if constexpr (std::is_same_v<Format, Narrow<narrow::kF8e4m3, std::uint8_t>>) {
    return static_cast<Wide>(sign) * Format::widen(narrow::kF8e4m3.largest);
  } else if constexpr (std::is_same_v<Format, Truth>) {
    return sign > 0 ? 1 : 0;
  } else if constexpr (std::is_floating_point_v<Wide>) {
    return static_cast<Wide>(sign) * Limits::infinity();
  } else {
    return sign > 0 ? Limits::max() : Limits::min();
  }
}

template <class Format>
typename Format::Wide identity(ReduceOp op) {
  using Wide = typename Format::Wide;
  if (op == ReduceOp::product) return Wide(1);
  if constexpr (!is_complex_format<Format>) {
    if (op == ReduceOp::min) return extreme<Format>(1);
    if (op == ReduceOp::max) return extreme<Format>(-1);
  }
  return Wide(0);
}

// The first of the innermost loops that together are one.
std::size_t row_level(const FoldLoops& loops, std::size_t terms) {
  const auto continues = [](Index outer, Index inner, Index count) { return outer == count * inner; };
  std::size_t level = loops.counts.size() - 1;
  for (; level > 0; --level) {
    const Index count = loops.counts[level];
    if (!continues(loops.result_steps[level - 1], loops.result_steps[level], count)) return level;
    for (std::size_t t = 0; t < terms; ++t)
      if (!continues(loops.term_steps[(level - 1) * terms + t], loops.term_steps[level * terms + t], count))
        return level;
  }
  return level;
}

struct FoldJob {
  FoldKernel kernel;
  FoldLoops loops;
  Index divisor;
  std::size_t row_level;
  Index row_count;
  bool stream;

  void row(std::byte* result, std::span<FoldRow> terms) const {
    const std::size_t last = loops.counts.size() - 1;
    for (std::size_t t = 0; t < terms.size(); ++t) terms[t].step = loops.term_steps[last * terms.size() + t];
    if (stream) return kernel.stream(result, loops.result_steps[last], terms, row_count, divisor);
    kernel(result, loops.result_steps[last], terms, row_count, divisor);
  }
};

void run_fold_loops(const FoldJob& job, std::byte* result, std::span<FoldRow> terms, std::size_t level) {
  if (level == job.row_level) return job.row(result, terms);
  const std::span<const Index> steps = job.loops.term_steps.subspan(level * terms.size(), terms.size());
  const Index count = job.loops.counts[level];
  for (Index i = 0; i < count; ++i) {
    run_fold_loops(job, result + i * job.loops.result_steps[level], terms, level + 1);
    for (std::size_t t = 0; t < terms.size(); ++t) terms[t].data += steps[t];
  }
  for (std::size_t t = 0; t < terms.size(); ++t) terms[t].data -= count * steps[t];
}

Index product_of(std::span<const Index> counts) {
  Index product = 1;
  for (const Index count : counts) product *= count;
  return product;
}

}  // namespace

FoldKernel fold_kernel(ReduceOp op, Dtype dtype) {
  if (!is_reducible(dtype, op)) return {};
  const auto loop = with_format(dtype, [op]<class Format>(Format) { return loop_of<Format>(op); });
  return {loop, kernel::fold_rows(op, dtype), bytes_of(dtype)};
}

void FoldKernel::run(std::byte* result, Index result_step, std::span<const FoldRow> terms, Index count, Index divisor,
                     bool stream) const {
  const auto is_packed = [this](const FoldRow& term) { return term.step == element_bytes_; };
  if (packed_.plain == nullptr || result_step != element_bytes_ || !std::ranges::all_of(terms, is_packed))
    return loop_(result, result_step, terms, count, divisor);
  (stream ? packed_.streamed : packed_.plain)(result, terms, count, divisor);
}

std::array<std::byte, 16> identity_of(ReduceOp op, Dtype dtype) {
  return with_format(dtype, [op]<class Format>(Format) {
    std::array<std::byte, 16> bytes{};
    const auto element = Format::narrow(identity<Format>(op));
    std::memcpy(bytes.data(), &element, sizeof(element));
    return bytes;
  });
}

void reduce(FoldKernel kernel, std::byte* result, std::span<FoldRow> terms, const FoldLoops& loops, Index divisor) {
  if (loops.counts.empty()) return kernel(result, 0, terms, 1, divisor);
  FoldJob job{kernel, loops, divisor, row_level(loops, terms.size()), 0, false};
  job.row_count = product_of(loops.counts.subspan(job.row_level));
  const Index width = kernel.element_bytes(), outer = product_of(loops.counts.first(job.row_level));
  const bool in_place = std::ranges::any_of(terms, [result](const FoldRow& term) { return term.data == result; });
  job.stream = kernel::kCanStream && !in_place && job.row_count * width >= kernel::kLeastStreamedRow &&
               outer * job.row_count * width >= kernel::kLeastStreamedJob;
  run_fold_loops(job, result, terms, 0);
  if (job.stream) kernel::finish_streaming();
}

}  // namespace reshard
