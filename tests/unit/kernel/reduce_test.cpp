// The fold against one obvious element at a time, for every dtype and op.
#include "kernel/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/reducible.h"
#include "every_instruction_set.h"
#include "kernel/rows.h"
#include "narrow_twin.h"
#include "property/random.h"

namespace reshard {
namespace {

__extension__ using Int128 = __int128;

constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::avg, ReduceOp::min, ReduceOp::max, ReduceOp::product};
constexpr Index kDivisor = 3;  // not the number of terms: sums may be divided by fewer
constexpr std::byte kGuard{0xA5};

using Element = std::array<std::byte, 16>;

template <class T>
T as(const Element& element) {
  T value;
  std::memcpy(&value, element.data(), sizeof(T));
  return value;
}

template <class T>
Element of(T value) {
  Element element{};
  std::memcpy(element.data(), &value, sizeof(T));
  return element;
}

template <class T>
T op_of(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg: return a + b;
    case ReduceOp::product: return a * b;
    case ReduceOp::min: return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : (a < b ? a : b);
    case ReduceOp::max: return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : (a > b ? a : b);
  }
  return a;
}

template <class T>
T folded_float(ReduceOp op, const std::vector<T>& terms) {
  T value = terms[0];
  for (std::size_t t = 1; t < terms.size(); ++t) value = op_of(op, value, terms[t]);
  if (op == ReduceOp::avg) value /= static_cast<T>(kDivisor);
  return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
}

template <class T>
Element float_twin(ReduceOp op, const std::vector<Element>& terms) {
  std::vector<T> values;
  for (const Element& term : terms) values.push_back(as<T>(term));
  return of(folded_float(op, values));
}

template <class T>
Element int_twin(ReduceOp op, const std::vector<Element>& terms) {
  Int128 value = as<T>(terms[0]);
  for (std::size_t t = 1; t < terms.size(); ++t) {
    const Int128 next = as<T>(terms[t]);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg: value += next; break;
      case ReduceOp::product:
        value = static_cast<T>(static_cast<std::uint64_t>(value) * static_cast<std::uint64_t>(next));
        break;
      case ReduceOp::min: value = std::min(value, next); break;
      case ReduceOp::max: value = std::max(value, next); break;
    }
  }
  if (op == ReduceOp::avg) value /= kDivisor;
  return of(static_cast<T>(value));
}

template <class T>
Element complex_twin(ReduceOp op, const std::vector<Element>& terms) {
  T re = as<std::complex<T>>(terms[0]).real(), im = as<std::complex<T>>(terms[0]).imag();
  for (std::size_t t = 1; t < terms.size(); ++t) {
    const auto next = as<std::complex<T>>(terms[t]);
    const T a = re, b = im;
    re = op == ReduceOp::product ? a * next.real() - b * next.imag() : a + next.real();
    im = op == ReduceOp::product ? a * next.imag() + b * next.real() : b + next.imag();
  }
  if (op == ReduceOp::avg) re /= static_cast<T>(kDivisor), im /= static_cast<T>(kDivisor);
  const T nan = std::numeric_limits<T>::quiet_NaN();
  return of(std::complex<T>(std::isnan(re) ? nan : re, std::isnan(im) ? nan : im));
}

template <class Bits>
Element narrow_twin(ReduceOp op, const std::vector<Element>& terms, const twin::Format& format, std::uint32_t nan) {
  static const std::vector<double> ladders[] = {twin::ladder(twin::f16), twin::ladder(twin::bf16),
                                                twin::ladder(twin::f8e4m3), twin::ladder(twin::f8e5m2)};
  const auto& ladder = ladders[&format == &twin::f16      ? 0
                               : &format == &twin::bf16   ? 1
                               : &format == &twin::f8e4m3 ? 2
                                                          : 3];
  std::vector<float> values;
  for (const Element& term : terms) values.push_back(static_cast<float>(twin::decode(format, as<Bits>(term))));
  const float value = folded_float(op, values);
  return of(static_cast<Bits>(std::isnan(value) ? nan : twin::encode(format, ladder, value)));
}

Element bool_twin(ReduceOp op, const std::vector<Element>& terms) {
  const auto is_true = [](const Element& e) { return e[0] != std::byte{0}; };
  const bool any = op == ReduceOp::sum || op == ReduceOp::max;
  return of<std::uint8_t>(any ? std::ranges::any_of(terms, is_true) : std::ranges::all_of(terms, is_true));
}

Element twin_of(Dtype dtype, ReduceOp op, const std::vector<Element>& terms) {
  switch (dtype) {
    case Dtype::boolean: return bool_twin(op, terms);
    case Dtype::u8: return int_twin<std::uint8_t>(op, terms);
    case Dtype::i8: return int_twin<std::int8_t>(op, terms);
    case Dtype::u16: return int_twin<std::uint16_t>(op, terms);
    case Dtype::i16: return int_twin<std::int16_t>(op, terms);
    case Dtype::u32: return int_twin<std::uint32_t>(op, terms);
    case Dtype::i32: return int_twin<std::int32_t>(op, terms);
    case Dtype::u64: return int_twin<std::uint64_t>(op, terms);
    case Dtype::i64: return int_twin<std::int64_t>(op, terms);
    case Dtype::f8e4m3: return narrow_twin<std::uint8_t>(op, terms, twin::f8e4m3, 0x7f);
    case Dtype::f8e5m2: return narrow_twin<std::uint8_t>(op, terms, twin::f8e5m2, 0x7e);
    case Dtype::f16: return narrow_twin<std::uint16_t>(op, terms, twin::f16, 0x7e00);
    case Dtype::bf16: return narrow_twin<std::uint16_t>(op, terms, twin::bf16, 0x7fc0);
    case Dtype::f32: return float_twin<float>(op, terms);
    case Dtype::f64: return float_twin<double>(op, terms);
    case Dtype::complex64: return complex_twin<float>(op, terms);
    case Dtype::complex128: return complex_twin<double>(op, terms);
  }
  return {};
}

// Random bits: subnormals, infinities and NaN among them; half of the floats are small numbers with fractions.
Element random_element(Random& random, Dtype dtype) {
  Element element;
  for (std::byte& byte : element) byte = static_cast<std::byte>(random.below(256));
  const auto small = [&] { return static_cast<double>(random.between(-999, 999)) / 7; };
  if (random.one_in(2)) return element;
  if (dtype == Dtype::f32) return of(static_cast<float>(small()));
  if (dtype == Dtype::f64) return of(small());
  if (dtype == Dtype::complex64)
    return of(std::complex<float>(static_cast<float>(small()), static_cast<float>(small())));
  if (dtype == Dtype::complex128) return of(std::complex<double>(small(), small()));
  if (dtype == Dtype::bf16)
    return of(static_cast<std::uint16_t>(0x3c00 + random.below(0x600) + 0x8000 * random.below(2)));
  return element;
}

std::string hex(const std::byte* at, Index bytes) {
  std::string text;
  for (Index i = bytes; i-- > 0;) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", static_cast<unsigned>(at[i]));
    text += two;
  }
  return text;
}

struct Memory {
  std::vector<std::byte> bytes;
  Index step = 0;
};

// `count` elements, `gap` elements apart.
Memory memory_of(Random& random, Dtype dtype, Index count, Index gap) {
  const Index size = bytes_of(dtype);
  Memory memory{std::vector<std::byte>(static_cast<std::size_t>(count * gap * size)), gap * size};
  for (Index i = 0; i < count; ++i)
    std::memcpy(memory.bytes.data() + i * memory.step, random_element(random, dtype).data(),
                static_cast<std::size_t>(size));
  return memory;
}

void expect_row(Random& random, Dtype dtype, ReduceOp op, std::size_t terms, Index count) {
  const Index size = bytes_of(dtype);
  std::vector<Memory> memories;
  std::vector<FoldRow> rows;
  for (std::size_t t = 0; t < terms; ++t) memories.push_back(memory_of(random, dtype, count, random.one_in(2) ? 1 : 3));
  for (const Memory& memory : memories) rows.push_back({memory.bytes.data(), memory.step});
  const Index result_step = size * (random.one_in(2) ? 1 : 2);
  std::vector<std::byte> result(static_cast<std::size_t>(std::max<Index>(1, count * result_step)));
  fold_kernel(op, dtype)(result.data(), result_step, rows, count, kDivisor);
  for (Index i = 0; i < count; ++i) {
    std::vector<Element> elements;
    for (const Memory& memory : memories) {
      Element& element = elements.emplace_back();
      std::memcpy(element.data(), memory.bytes.data() + i * memory.step, static_cast<std::size_t>(size));
    }
    const Element expected = twin_of(dtype, op, elements);
    ASSERT_EQ(hex(result.data() + i * result_step, size), hex(expected.data(), size))
        << name_of(op) << " of " << terms << " " << name_of(dtype) << ", element " << i << " of " << count
        << ", first term " << hex(elements[0].data(), size);
  }
}

TEST(Reduce, EveryDtypeAndOpAsOneElementAtATime) {
  for_every_instruction_set([] {
    Random random(seed_from_environment());
    for (const Dtype dtype : all_dtypes())
      for (const ReduceOp op : kOps) {
        if (!is_reducible(dtype, op)) continue;
        for (const std::size_t terms : {1u, 2u, 3u, 8u})
          for (const Index count : {0, 1, 7, 64, 255, 257}) expect_row(random, dtype, op, terms, count);
      }
  });
}

// Past the cache or not, at any alignment of the elements: the bits of the loop without vectors, and nothing more.
TEST(Reduce, StreamedRowsAtEveryAlignment) {
  for_every_instruction_set([] {
    Random random(seed_from_environment());
    for (const Dtype dtype : all_dtypes())
      for (const ReduceOp op : kOps)
        for (const Index shift : {0, 1, 3, 5, 8, 31}) {
          if (!is_reducible(dtype, op)) continue;
          const Index size = bytes_of(dtype), count = 350 + shift;
          const Memory a = memory_of(random, dtype, count + shift, 1), b = memory_of(random, dtype, count, 1);
          const FoldRow rows[] = {{a.bytes.data() + shift * size, size}, {b.bytes.data(), size}};
          std::vector<std::byte> one_by_one(static_cast<std::size_t>((count + shift + 70) * size), kGuard);
          std::vector<std::byte> plain = one_by_one, streamed = one_by_one;
          const FoldKernel kernel = fold_kernel(op, dtype);
          for (Index i = 0; i < count; ++i) {  // a step of none of the elements' own: without vectors
            const FoldRow element[] = {{rows[0].data + i * size, 0}, {rows[1].data + i * size, 0}};
            kernel(one_by_one.data() + (shift + i) * size, 0, element, 1, kDivisor);
          }
          kernel(plain.data() + shift * size, size, rows, count, kDivisor);
          kernel.stream(streamed.data() + shift * size, size, rows, count, kDivisor);
          kernel::finish_streaming();
          ASSERT_EQ(plain, one_by_one) << name_of(op) << " of " << name_of(dtype) << " at " << shift;
          ASSERT_EQ(streamed, one_by_one) << name_of(op) << " of " << name_of(dtype) << " at " << shift;
        }
  });
}

// Loops that continue each other at all ends and a result past the cache, or onto its first term.
TEST(Reduce, LargeJobs) {
  const Index rows = 300, columns = 5000, count = rows * columns;
  std::vector<float> a(static_cast<std::size_t>(count)), b(a), result(a);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 4099), b[i] = static_cast<float>(i % 1021);
  const Index counts[] = {rows, columns}, steps[] = {columns * 4, 4};
  const Index term_steps[] = {columns * 4, columns * 4, 4, 4};
  FoldRow terms[] = {{reinterpret_cast<std::byte*>(a.data()), 0}, {reinterpret_cast<std::byte*>(b.data()), 0}};
  const FoldKernel sum = fold_kernel(ReduceOp::sum, Dtype::f32);
  reduce(sum, reinterpret_cast<std::byte*>(result.data()), terms, {counts, steps, term_steps}, 1);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(result[i], a[i] + b[i]) << i;
  reduce(sum, reinterpret_cast<std::byte*>(a.data()), terms, {counts, steps, term_steps}, 1);
  EXPECT_EQ(a, result);
}

TEST(Reduce, TheTableOfPlansIsThatOfTheKernel) {
  for (const Dtype dtype : all_dtypes())
    for (const ReduceOp op : kOps)
      EXPECT_EQ(static_cast<bool>(fold_kernel(op, dtype)), is_reducible(dtype, op))
          << name_of(dtype) << " " << name_of(op);
}

TEST(Reduce, AveragesOfIntegersDoNotOverflow) {
  const std::int64_t terms[] = {INT64_MAX, INT64_MAX, INT64_MAX}, negative[] = {-7, -1, 0};
  std::int64_t result = 0;
  const auto average = [&](const std::int64_t* values) {
    std::vector<FoldRow> rows;
    for (int t = 0; t < 3; ++t) rows.push_back({reinterpret_cast<const std::byte*>(values + t), 8});
    fold_kernel(ReduceOp::avg, Dtype::i64)(reinterpret_cast<std::byte*>(&result), 8, rows, 1, 3);
    return result;
  };
  EXPECT_EQ(average(terms), INT64_MAX);
  EXPECT_EQ(average(negative), -2);
}

// The identity changes no value: every pattern of the narrow dtypes, random ones of the others.
TEST(Reduce, IdentityChangesNothing) {
  Random random(seed_from_environment());
  for (const Dtype dtype : all_dtypes())
    for (const ReduceOp op : kOps) {
      const bool is_complex = dtype == Dtype::complex64 || dtype == Dtype::complex128;  // infinity times 0 is NaN
      if (!is_reducible(dtype, op) || op == ReduceOp::avg || is_complex) continue;
      const Index size = bytes_of(dtype);
      const Element identity = identity_of(op, dtype);
      for (Index k = 0; k < (size <= 2 ? Index{1} << (8 * size) : 2000); ++k) {
        const Element value = size <= 2 ? of(static_cast<std::uint16_t>(k)) : random_element(random, dtype);
        // What folding does to the value alone: NaN becomes the one pattern, and true is 1.
        Element alone{}, together{};
        const FoldRow rows[] = {{value.data(), size}, {identity.data(), size}};
        const FoldKernel kernel = fold_kernel(op, dtype);
        kernel(alone.data(), size, std::span(rows).first(1), 1, 1);
        kernel(together.data(), size, std::span(rows), 1, 1);
        Element positive = alone;
        positive[static_cast<std::size_t>(size - 1)] &= std::byte{0x7f};
        const bool is_zero = op == ReduceOp::sum && positive == Element{};  // 0 + -0 is 0
        if (is_zero) continue;
        ASSERT_EQ(hex(together.data(), size), hex(alone.data(), size)) << name_of(op) << " " << name_of(dtype);
      }
    }
}

TEST(Reduce, KnownIdentities) {
  const auto text = [](ReduceOp op, Dtype dtype) { return hex(identity_of(op, dtype).data(), bytes_of(dtype)); };
  EXPECT_EQ(text(ReduceOp::sum, Dtype::f32), "00000000");
  EXPECT_EQ(text(ReduceOp::product, Dtype::f32), "3f800000");
  EXPECT_EQ(text(ReduceOp::min, Dtype::f32), "7f800000");
  EXPECT_EQ(text(ReduceOp::max, Dtype::f64), "fff0000000000000");
  EXPECT_EQ(text(ReduceOp::min, Dtype::i32), "7fffffff");
  EXPECT_EQ(text(ReduceOp::max, Dtype::i64), "8000000000000000");
  EXPECT_EQ(text(ReduceOp::min, Dtype::f8e4m3), "7e");
  EXPECT_EQ(text(ReduceOp::max, Dtype::bf16), "ff80");
  EXPECT_EQ(text(ReduceOp::product, Dtype::complex64), "000000003f800000");
  EXPECT_EQ(text(ReduceOp::min, Dtype::boolean), "01");
}

// Loops around rows: every operand with strides of its own, negative ones too.
TEST(Reduce, LoopsVisitEveryElementOnce) {
  const Index counts[] = {3, 2, 5};
  // Element (i, j, k) of term t lies at i * a + j * b + k * c of its memory.
  const Index result_steps[] = {40, 20, 4}, term_steps[] = {80, 4, 40, 12, -8, 24};  // loops x 2 terms
  std::vector<std::int32_t> first(200), second(200), result(30, -1);
  for (std::size_t n = 0; n < 200; ++n)
    first[n] = static_cast<std::int32_t>(1000 + n), second[n] = static_cast<std::int32_t>(100000 * n);
  FoldRow rows[] = {{reinterpret_cast<std::byte*>(first.data() + 20), 0},
                    {reinterpret_cast<std::byte*>(second.data()), 0}};
  const std::byte* const begin = rows[0].data;
  reduce(fold_kernel(ReduceOp::sum, Dtype::i32), reinterpret_cast<std::byte*>(result.data()), rows,
         {counts, result_steps, term_steps}, 1);
  EXPECT_EQ(rows[0].data, begin);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 2; ++j)
      for (Index k = 0; k < 5; ++k) {
        const Index a = 20 + i * 20 + j * 10 - k * 2, b = i * 1 + j * 3 + k * 6;
        EXPECT_EQ(result[static_cast<std::size_t>(i * 10 + j * 5 + k)],
                  first[static_cast<std::size_t>(a)] + second[static_cast<std::size_t>(b)]);
      }
}

}  // namespace
}  // namespace reshard
