// Every pattern of every narrow format, and every place where rounding turns.
#include "base/narrow_float.h"

#include <gtest/gtest.h>

#include "narrow_twin.h"

namespace reshard {
namespace {

using narrow::NarrowFloat;

template <NarrowFloat F>
void expect_exact(const twin::Format& format) {
  for (std::uint32_t bits = 0; bits < 2 * format.sign(); ++bits) {
    const double expected = twin::decode(format, bits);
    const float value = narrow::widened<F>(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << format.name << " " << bits;
      ASSERT_EQ(narrow::narrowed<F>(value), F.nan) << format.name << " " << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), expected) << format.name << " " << bits;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << format.name << " " << bits;
    ASSERT_EQ(narrow::narrowed<F>(value), bits) << format.name << " " << bits;
  }
}

// Rounding is monotonous, so it is right if it turns at the middle between neighbours.
template <NarrowFloat F>
void expect_turns_in_the_middle(const twin::Format& format) {
  const std::vector<double> ladder = twin::ladder(format);
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::uint32_t below = 0; below < ladder.size(); ++below) {
    const double next = below + 1 < ladder.size() ? ladder[below + 1] : 2 * ladder[below] - ladder[below - 1];
    const double exact = ladder[below] + (next - ladder[below]) / 2;
    const auto middle = static_cast<float>(exact);
    if (static_cast<double>(middle) != exact) continue;  // beyond f32: the last of bf16
    const std::uint32_t even = below % 2 == 0 ? below : below + 1;
    ASSERT_EQ(narrow::narrowed<F>(middle), even) << format.name << " " << below;
    ASSERT_EQ(narrow::narrowed<F>(std::nextafter(middle, infinity)), below + 1) << format.name << " " << below;
    ASSERT_EQ(narrow::narrowed<F>(std::nextafter(middle, 0.0f)), below) << format.name << " " << below;
    ASSERT_EQ(narrow::narrowed<F>(-middle), format.sign() | even) << format.name << " " << below;
  }
  const std::uint32_t past = static_cast<std::uint32_t>(ladder.size());
  ASSERT_EQ(narrow::narrowed<F>(infinity), past);
  ASSERT_EQ(narrow::narrowed<F>(-infinity), format.sign() | past);
  ASSERT_EQ(narrow::narrowed<F>(std::numeric_limits<float>::max()), past);
  ASSERT_EQ(narrow::narrowed<F>(std::numeric_limits<float>::denorm_min()), 0u);
}

TEST(NarrowFloat, WidensExactlyAndReturns) {
  expect_exact<narrow::kF16>(twin::f16);
  expect_exact<narrow::kBf16>(twin::bf16);
  expect_exact<narrow::kF8e4m3>(twin::f8e4m3);
  expect_exact<narrow::kF8e5m2>(twin::f8e5m2);
}

TEST(NarrowFloat, RoundsToNearestEven) {
  expect_turns_in_the_middle<narrow::kF16>(twin::f16);
  expect_turns_in_the_middle<narrow::kBf16>(twin::bf16);
  expect_turns_in_the_middle<narrow::kF8e4m3>(twin::f8e4m3);
  expect_turns_in_the_middle<narrow::kF8e5m2>(twin::f8e5m2);
}

TEST(NarrowFloat, KnownPatterns) {
  EXPECT_EQ(narrow::widened<narrow::kF8e4m3>(0x38), 1.0f);
  EXPECT_EQ(narrow::narrowed<narrow::kF8e4m3>(2.0f), 0x40u);
  EXPECT_EQ(narrow::widened<narrow::kF8e4m3>(0x70), 128.0f);
  EXPECT_EQ(narrow::widened<narrow::kF8e4m3>(0x7e), 448.0f);
  EXPECT_EQ(narrow::widened<narrow::kF16>(0x7bff), 65504.0f);
  EXPECT_EQ(narrow::narrowed<narrow::kBf16>(1.0f), 0x3f80u);
  EXPECT_EQ(narrow::widened<narrow::kF8e5m2>(0x7b), 57344.0f);
}

}  // namespace
}  // namespace reshard
