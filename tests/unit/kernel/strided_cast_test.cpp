// Casts by loops, by vectors and past the cache: the same bits as one element at a time, and nothing else written.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "every_instruction_set.h"
#include "kernel/cast.h"
#include "kernel/rows.h"

namespace reshard {
namespace {

using Memory = std::vector<std::byte>;

constexpr std::byte kUntouched{0xA5};

constexpr std::size_t kRoom = 130'000;

// Random bits: every kind of element among them.
const Memory& random_memory() {
  static const Memory memory = [] {
    std::mt19937_64 random(20261130);
    Memory bytes(kRoom);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 17);
    return bytes;
  }();
  return memory;
}

// Pairs that go by vectors at once, by way of f32, and without.
struct Pair {
  Dtype from, to;
};
constexpr Pair kPairs[] = {{Dtype::f32, Dtype::bf16},    {Dtype::f32, Dtype::f16},    {Dtype::f32, Dtype::f8e4m3},
                           {Dtype::f32, Dtype::f8e5m2},  {Dtype::bf16, Dtype::f32},   {Dtype::f8e4m3, Dtype::f32},
                           {Dtype::f64, Dtype::f32},     {Dtype::f32, Dtype::f64},    {Dtype::f64, Dtype::bf16},
                           {Dtype::f16, Dtype::bf16},    {Dtype::f8e5m2, Dtype::f16}, {Dtype::u8, Dtype::i16},
                           {Dtype::i32, Dtype::f32},     {Dtype::f32, Dtype::i32},    {Dtype::i64, Dtype::f32},
                           {Dtype::boolean, Dtype::f32}, {Dtype::f32, Dtype::f32},    {Dtype::f32, Dtype::complex64}};

// One element after the other, without vectors: a call has one element.
void cast_slowly(const CastKernel& cast, std::byte* target, const std::byte* source, std::span<const Stride> loops) {
  if (loops.empty()) return cast(target, 0, source, 0, 1);
  for (Index i = 0; i < loops[0].count; ++i)
    cast_slowly(cast, target + i * loops[0].target_bytes, source + i * loops[0].source_bytes, loops.subspan(1));
}

struct CastCase {
  Pair pair;
  std::vector<Stride> loops;
  Index source_offset = 0;
  Index target_offset = 0;
  std::size_t target_size = 0;
  Index job_bytes = 0;
};

void expect_as_one_by_one(const CastCase& c) {
  const std::byte* source = random_memory().data();
  Memory expected(c.target_size, kUntouched), actual = expected;
  const CastKernel cast(c.pair.from, c.pair.to);
  cast_slowly(cast, expected.data() + c.target_offset, source + c.source_offset, c.loops);
  cast_strided(cast, actual.data(), source, {c.source_offset, c.target_offset, c.loops, c.job_bytes});
  const auto differs = std::ranges::mismatch(actual, expected);
  ASSERT_TRUE(actual == expected) << name_of(c.pair.from) << " to " << name_of(c.pair.to) << ", byte "
                                  << differs.in1 - actual.begin() << " of " << c.target_size << ", job of "
                                  << c.job_bytes;
}

TEST(StridedCast, EveryLengthAndAlignment) {
  for_every_instruction_set([] {
    for (const Pair pair : kPairs)
      for (const Index count : {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 255, 256, 257, 300, 1000}) {
        const Index shift = count % 7;
        const Index from = bytes_of(pair.from), to = bytes_of(pair.to);
        ASSERT_NO_FATAL_FAILURE(expect_as_one_by_one({pair,
                                                      {{count, from, to}},
                                                      shift,
                                                      64 - shift,

                                                      static_cast<std::size_t>(count * to + 128)}));
      }
  });
}

// Long rows of a large job go past the cache; the ends of each row do not.
TEST(StridedCast, StreamedRowsAtEveryAlignmentOfElements) {
  for_every_instruction_set([] {
    for (const Pair pair : kPairs)
      for (const Index shift : {0, 1, 2, 3, 8, 24, 40, 63}) {
        const Index from = bytes_of(pair.from), to = bytes_of(pair.to), count = 1500 + 3 * shift;
        ASSERT_NO_FATAL_FAILURE(expect_as_one_by_one({pair,
                                                      {{3, (count + 1) * from, (count + 2) * to}, {count, from, to}},
                                                      shift,
                                                      shift,

                                                      static_cast<std::size_t>(3 * (count + 2) * to + 64),
                                                      Index{1} << 30}));
      }
  });
}

// Rows long enough to be written from both halves at once, which leave something over.
TEST(StridedCast, RowsStreamedFromBothHalves) {
  std::vector<float> source(70'001);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i) * 0.37f - 9000;
  for_every_instruction_set([&source] {
    for (const Dtype to : {Dtype::bf16, Dtype::f8e4m3, Dtype::f64, Dtype::i32}) {
      const CastKernel cast(Dtype::f32, to);
      const Index count = static_cast<Index>(source.size()), width = bytes_of(to);
      Memory expected(static_cast<std::size_t>((count + 9) * width), kUntouched), actual = expected;
      const Stride loop{count, 4, width};
      const auto* from = reinterpret_cast<const std::byte*>(source.data());
      cast_slowly(cast, expected.data() + 3 * width, from, {&loop, 1});
      cast_strided(cast, actual.data() + 3 * width, from, {.loops = {&loop, 1}, .job_bytes = Index{1} << 30});
      ASSERT_TRUE(actual == expected) << name_of(to) << ", byte "
                                      << std::ranges::mismatch(actual, expected).in1 - actual.begin();
    }
  });
}

// Gaps at either end, backwards, transposed with whole panels and parts of them, one source again and again.
TEST(StridedCast, Loops) {
  for_every_instruction_set([] {
    for (const Pair pair : kPairs) {
      const Index f = bytes_of(pair.from), t = bytes_of(pair.to);
      const std::vector<std::vector<Stride>> nests = {
          {{5, 100 * f, 120 * t}, {33, 3 * f, t}},
          {{5, 100 * f, 120 * t}, {33, f, 2 * t}},
          {{7, 90 * f, -40 * t}, {33, 2 * f, t}},
          {{67, f, 130 * t}, {130, 67 * f, t}},
          {{3, 67 * 70 * f, t}, {67, f, 3 * 70 * t}, {70, 67 * f, 3 * t}},
          {{4, 0, 50 * t}, {50, f, t}},
          {},
          {{9, f, t}, {0, f, t}},
      };
      for (const std::vector<Stride>& loops : nests)
        for (const Index job : {Index{0}, Index{1} << 30})
          ASSERT_NO_FATAL_FAILURE(expect_as_one_by_one({pair, loops, 0, 300 * t, kRoom, job}));
    }
  });
}

TEST(StridedCast, MoreLoopsThanANestHolds) {
  CastCase c{{Dtype::f32, Dtype::bf16}, {}, 0, 0, 4096};
  for (int i = 0; i < 20; ++i) c.loops.push_back({i % 4 == 0 ? 2 : 1, 4 << (i / 4), 2 << (i / 4)});
  ASSERT_NO_FATAL_FAILURE(expect_as_one_by_one(c));
}

// Where both dtypes have one size a cast may be in place.
TEST(StridedCast, InPlace) {
  for_every_instruction_set([] {
    for (const Pair pair :
         {Pair{Dtype::f16, Dtype::bf16}, Pair{Dtype::i32, Dtype::f32}, Pair{Dtype::f32, Dtype::i32}}) {
      const Index width = bytes_of(pair.from), count = 777;
      Memory memory(random_memory().begin(), random_memory().begin() + count * width), apart(memory.size());
      const CastKernel cast(pair.from, pair.to);
      const Stride loop{count, width, width};
      cast_strided(cast, apart.data(), memory.data(), {.loops = {&loop, 1}});
      cast_strided(cast, memory.data(), memory.data(), {.loops = {&loop, 1}});
      ASSERT_EQ(memory, apart) << name_of(pair.from);
    }
  });
}

}  // namespace
}  // namespace reshard
