// Every element of 8 and 16 bits, and those of wider types where rounding turns, to every dtype.
#include "kernel/cast.h"

#include <gtest/gtest.h>

#include <random>

#include "cast_twin.h"
#include "every_instruction_set.h"

namespace reshard {
namespace {

using twin::Bytes;

bool is_real(Dtype dtype) { return dtype != Dtype::complex64 && dtype != Dtype::complex128; }

Bytes run_cast(Dtype from, Dtype to, const Bytes& source) {
  const Index count = static_cast<Index>(source.size()) / bytes_of(from);
  Bytes target(static_cast<std::size_t>(count * bytes_of(to)));
  CastKernel(from, to)(target.data(), bytes_of(to), source.data(), bytes_of(from), count);
  return target;
}

void expect_like_twin(Dtype from, Dtype to, const Bytes& source) {
  const Bytes target = run_cast(from, to, source);
  const Index width = bytes_of(to);
  for (Index i = 0; i < static_cast<Index>(source.size()) / bytes_of(from); ++i) {
    const twin::Real value = twin::real_at(from, source.data() + i * bytes_of(from));
    const Bytes made(target.begin() + i * width, target.begin() + (i + 1) * width);
    ASSERT_EQ(made, twin::cast(to, value))
        << name_of(from) << " to " << name_of(to) << ", element " << i << ": " << static_cast<double>(value);
  }
}

void append(Bytes& all, const Bytes& more) { all.insert(all.end(), more.begin(), more.end()); }

TEST(Cast, EveryElementOfEightAndSixteenBits) {
  for (const Dtype from : all_dtypes()) {
    if (bytes_of(from) > 2) continue;
    Bytes source;
    for (std::uint32_t bits = 0; bits < (1u << (8 * bytes_of(from))); ++bits)
      append(source, bytes_of(from) == 1 ? twin::bytes_from(static_cast<std::uint8_t>(bits))
                                         : twin::bytes_from(static_cast<std::uint16_t>(bits)));
    for (const Dtype to : all_dtypes())
      if (is_real(to)) expect_like_twin(from, to, source);
  }
}

// Every value of every narrow type, the middle between it and the next, and what lies a hair to both sides of these.
Bytes turning_points(Dtype from) {
  Bytes source;
  const auto add = [&](twin::Real value) {
    if (from == Dtype::f32) return append(source, twin::float_from<float>(value));
    append(source, twin::float_from<double>(value));
  };
  for (const twin::Format* format : {&twin::f16, &twin::bf16, &twin::f8e4m3, &twin::f8e5m2}) {
    const std::vector<double> ladder = twin::ladder(*format);
    for (std::size_t i = 0; i < ladder.size(); ++i) {
      const double next = i + 1 < ladder.size() ? ladder[i + 1] : 2 * ladder[i] - ladder[i - 1];
      const double middle = ladder[i] + (next - ladder[i]) / 2;
      for (const double value : {middle, std::nextafter(middle, 1e300), std::nextafter(middle, 0.0)})
        for (const double sign : {1.0, -1.0}) add(sign * value);
    }
  }
  return source;
}

// Powers of two, their halves and neighbours up to the ends of all integers, and what is no number.
Bytes around_integers(Dtype from) {
  Bytes source;
  for (int power = -2; power <= 65; ++power)
    for (const twin::Real offset : {-1.5L, -1.0L, -0.5L, 0.0L, 0.5L, 1.0L, 1.5L})
      for (const twin::Real sign : {1.0L, -1.0L})
        append(source, twin::cast(from, sign * (std::ldexp(1.0L, power) + offset)));
  for (const twin::Real value : {INFINITY, -INFINITY, NAN, 0.0f, -0.0f}) append(source, twin::cast(from, value));
  return source;
}

TEST(Cast, WideElementsWhereRoundingTurns) {
  for (const Dtype from : {Dtype::f32, Dtype::f64})
    for (const Dtype to : all_dtypes())
      if (is_real(to)) expect_like_twin(from, to, turning_points(from));
}

TEST(Cast, WideElementsAroundTheEndsOfIntegers) {
  for (const Dtype from : {Dtype::u32, Dtype::i32, Dtype::u64, Dtype::i64, Dtype::f32, Dtype::f64})
    for (const Dtype to : all_dtypes())
      if (is_real(to)) expect_like_twin(from, to, around_integers(from));
}

TEST(Cast, RandomWideElements) {
  const std::uint64_t seed = 20240229;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (const Dtype from : {Dtype::u32, Dtype::i32, Dtype::u64, Dtype::i64, Dtype::f32, Dtype::f64}) {
    Bytes source;
    // Shifted, so that all sizes come up; as floats, all bit patterns do.
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t bits = random() >> (from == Dtype::f64 || from == Dtype::f32 ? 0 : random() % 64);
      append(source, bytes_of(from) == 8 ? twin::bytes_from(bits) : twin::bytes_from(static_cast<std::uint32_t>(bits)));
    }
    for (const Dtype to : all_dtypes())
      if (is_real(to)) expect_like_twin(from, to, source);
  }
}

// What is compared with the twin above comes of the best instruction set: all others, and no vectors, give its bits.
TEST(Cast, EveryInstructionSetGivesTheSameBits) {
  std::vector<std::pair<Dtype, Bytes>> sources;
  for (const Dtype from : all_dtypes()) {
    Bytes source;
    for (std::uint32_t bits = 0; bytes_of(from) <= 2 && bits < (1u << (8 * bytes_of(from))); ++bits)
      append(source, bytes_of(from) == 1 ? twin::bytes_from(static_cast<std::uint8_t>(bits))
                                         : twin::bytes_from(static_cast<std::uint16_t>(bits)));
    if (from == Dtype::f32 || from == Dtype::f64) append(source, turning_points(from));
    if (is_real(from) && bytes_of(from) >= 4) append(source, around_integers(from));
    std::mt19937_64 random(20261130);
    for (int i = 0; i < 1 << 14; ++i) append(source, twin::bytes_from(static_cast<std::uint64_t>(random())));
    sources.emplace_back(from, std::move(source));
  }
  std::vector<Bytes> best;
  std::size_t sets = 0;
  for_every_instruction_set([&] {
    std::size_t next = 0;
    for (const auto& [from, source] : sources)
      for (const Dtype to : all_dtypes()) {
        if (!CastKernel::exists(from, to)) continue;
        Bytes made = run_cast(from, to, source);
        if (sets == 0) best.push_back(made);
        const auto differs = std::ranges::mismatch(made, best[next]);
        ASSERT_TRUE(made == best[next]) << name_of(from) << " to " << name_of(to) << ", element "
                                        << (differs.in1 - made.begin()) / bytes_of(to);
        ++next;
      }
    ++sets;
  });
  EXPECT_EQ(sets, kernel::instruction_sets().size());
}

TEST(Cast, StepsMayBeAnything) {
  for (const Index count : {0, 1, 3, 255, 256, 257, 1000}) {
    std::vector<std::int32_t> source(static_cast<std::size_t>(3 * count));
    std::vector<std::uint16_t> target(static_cast<std::size_t>(2 * count + 1), 0xbeef);
    for (Index i = 0; i < count; ++i) source[static_cast<std::size_t>(3 * i)] = static_cast<std::int32_t>(i - 5);
    // Backwards at the target.
    CastKernel(Dtype::i32, Dtype::u16)(reinterpret_cast<std::byte*>(target.data() + 2 * count), -4,
                                       reinterpret_cast<const std::byte*>(source.data()), 12, count);
    for (Index i = 0; i < count; ++i) {
      EXPECT_EQ(target[static_cast<std::size_t>(2 * (count - i))], std::max<Index>(i - 5, 0));
      EXPECT_EQ(target[static_cast<std::size_t>(2 * (count - i) - 1)], 0xbeef);
    }
  }
}

TEST(Cast, ComplexNumbers) {
  const std::vector<std::complex<double>> source = {{1.5, -2}, {1e300, -0.0}, {0.1, NAN}};
  Bytes bytes(source.size() * sizeof(source[0]));
  std::memcpy(bytes.data(), source.data(), bytes.size());
  const Bytes narrow = run_cast(Dtype::complex128, Dtype::complex64, bytes);
  for (std::size_t i = 0; i < source.size(); ++i) {
    for (std::size_t part = 0; part < 2; ++part) {
      const double value = part == 0 ? source[i].real() : source[i].imag();
      const Bytes made(narrow.begin() + static_cast<Index>(8 * i + 4 * part),
                       narrow.begin() + static_cast<Index>(8 * i + 4 * part + 4));
      EXPECT_EQ(made, twin::float_from<float>(value)) << i << " " << part;
    }
  }
  for (const Dtype from : all_dtypes()) {
    if (!is_real(from)) continue;
    const Bytes seven = twin::cast(from, 7);
    const Bytes made = run_cast(from, Dtype::complex128, seven);
    EXPECT_EQ(twin::value_at<std::complex<double>>(made.data()),
              std::complex<double>(from == Dtype::boolean ? 1 : 7, 0));
    EXPECT_TRUE(CastKernel::exists(from, Dtype::complex64));
    EXPECT_FALSE(CastKernel::exists(Dtype::complex64, from));
  }
}

}  // namespace
}  // namespace reshard
