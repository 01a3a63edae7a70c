// copy_strided against a byte-by-byte twin, with guard bytes around everything.
#include "kernel/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "every_instruction_set.h"

namespace reshard {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::byte kPoison{0xA5};

// A value per place, so that a byte tells where it came from; never the poison.
std::byte stamp(std::size_t place) {
  const auto value = static_cast<std::uint8_t>((place * 2654435761u) >> 13);
  return std::byte{value == 0xA5 ? std::uint8_t{0x5A} : value};
}

Bytes stamped(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = stamp(i);
  return bytes;
}

// The twin: no merging, no reordering, one byte at a time.
void copy_slowly(std::byte* target, const std::byte* source, StridedCopy copy) {
  if (copy.loops.empty()) {
    for (Index i = 0; i < copy.row_bytes; ++i) target[copy.target_offset + i] = source[copy.source_offset + i];
    return;
  }
  const Stride loop = copy.loops.front();
  copy.loops = copy.loops.subspan(1);
  for (Index i = 0; i < loop.count; ++i) {
    copy_slowly(target + i * loop.target_bytes, source + i * loop.source_bytes, copy);
  }
}

struct Case {
  std::vector<Stride> loops{};
  Index source_offset = 0;
  Index target_offset = 0;
  Index row_bytes = 0;
  std::size_t source_size = 0;
  std::size_t target_size = 0;
  Index job_bytes = 0;

  StridedCopy copy() const { return {source_offset, target_offset, row_bytes, loops, job_bytes}; }
  std::string text() const {
    std::string text = "row " + std::to_string(row_bytes) + " from " + std::to_string(source_offset) + " to " +
                       std::to_string(target_offset);
    for (const Stride& l : loops) {
      text += " x" + std::to_string(l.count) + "(" + std::to_string(l.source_bytes) + "," +
              std::to_string(l.target_bytes) + ")";
    }
    return text;
  }
};

::testing::AssertionResult copies_like_the_twin(const Case& c) {
  const Bytes source = stamped(c.source_size);
  Bytes expected(c.target_size, kPoison), actual(c.target_size, kPoison);
  copy_slowly(expected.data(), source.data(), c.copy());
  copy_strided(actual.data(), source.data(), c.copy());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    return ::testing::AssertionFailure() << c.text() << ": byte " << i << " of the target is " << int(actual[i])
                                         << ", expected " << int(expected[i]);
  }
  return ::testing::AssertionSuccess();
}

class Shapes {
 public:
  explicit Shapes(std::uint32_t seed) : random_(seed) {}

  // Loops whose targets do not overlap: built outwards from the row, then shuffled and some turned around.
  Case next() {
    Case c;
    c.row_bytes = row();
    Index source_reach = c.row_bytes, target_reach = c.row_bytes;
    const Index depth = between(0, 4);
    for (Index i = 0; i < depth; ++i) {
      const Index count = between(0, 9) == 0 ? between(0, 1) : between(2, 7);
      const Stride loop{count, source_reach + gap(), target_reach + gap()};
      c.loops.push_back(loop);
      source_reach += std::max<Index>(count - 1, 0) * loop.source_bytes;
      target_reach += std::max<Index>(count - 1, 0) * loop.target_bytes;
    }
    permute_sources(c);
    place(c);
    return c;
  }

 private:
  Index between(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random_); }
  Index gap() { return between(0, 2) == 0 ? between(1, 70) : 0; }
  Index row() {
    static constexpr Index kRows[] = {0,  1,  2,  3,  4,  5,  7,  8,   12,  15,  16,
                                      17, 24, 32, 33, 63, 64, 65, 100, 511, 512, 700};
    return kRows[between(0, std::size(kRows) - 1)];
  }
  // A transpose now and then: the source walks its memory in another order than the target.
  void permute_sources(Case& c) {
    std::shuffle(c.loops.begin(), c.loops.end(), random_);
    if (c.loops.size() >= 2 && between(0, 1) == 0) {
      for (std::size_t i = 0; i + 1 < c.loops.size(); i += 2) {
        std::swap(c.loops[i].source_bytes, c.loops[i + 1].source_bytes);
      }
    }
    for (Stride& loop : c.loops) {
      if (between(0, 5) == 0) loop.source_bytes = -loop.source_bytes;
      if (between(0, 5) == 0) loop.target_bytes = -loop.target_bytes;
      if (between(0, 15) == 0) loop.source_bytes = 0;
    }
  }
  // Buffers just large enough, with a guard at both ends and any alignment.
  void place(Case& c) {
    Index source_low = 0, source_high = c.row_bytes, target_low = 0, target_high = c.row_bytes;
    for (const Stride& loop : c.loops) {
      const Index steps = std::max<Index>(loop.count - 1, 0);
      (loop.source_bytes < 0 ? source_low : source_high) += steps * loop.source_bytes;
      (loop.target_bytes < 0 ? target_low : target_high) += steps * loop.target_bytes;
    }
    const Index guard = between(0, 130);
    c.source_offset = guard - source_low;
    c.target_offset = between(1, 130) - target_low;
    c.source_size = static_cast<std::size_t>(c.source_offset + source_high + guard);
    c.target_size = static_cast<std::size_t>(c.target_offset + target_high + 64);
    c.job_bytes = between(0, 1) == 0 ? 0 : Index{1} << 30;
  }

  std::mt19937 random_;
};

TEST(CopyStrided, EqualsTheTwinOnRandomShapes) {
  const std::uint32_t seed = 20261129;
  RecordProperty("seed", std::to_string(seed));
  Shapes shapes(seed);
  for (int i = 0; i < 6000; ++i) ASSERT_TRUE(copies_like_the_twin(shapes.next())) << "seed " << seed << " case " << i;
}

TEST(CopyStrided, EveryRowLengthAtEveryAlignment) {
  for (Index row = 0; row <= 200; ++row) {
    for (Index shift : {0, 1, 3, 8, 17, 63}) {
      Case c{.loops = {{3, row + 5, row + 2}}, .source_offset = shift, .target_offset = 64 - shift, .row_bytes = row};
      c.source_size = static_cast<std::size_t>(3 * (row + 5) + shift);
      c.target_size = static_cast<std::size_t>(3 * (row + 2) + 128);
      ASSERT_TRUE(copies_like_the_twin(c));
    }
  }
}

// Long rows of a large job take the streaming path, whose head and tail are plain.
TEST(CopyStrided, StreamedRowsAtEveryAlignment) {
  for (Index row : {512, 513, 575, 640, 4097, 8191, 8256, 20000}) {
    for (Index shift = 0; shift < 64; ++shift) {
      Case c{.loops = {{3, row + 31, row + 7}}, .source_offset = 63 - shift, .target_offset = shift, .row_bytes = row};
      c.source_size = static_cast<std::size_t>(3 * (row + 31) + 64);
      c.target_size = static_cast<std::size_t>(3 * (row + 7) + 128);
      c.job_bytes = Index{64} << 20;
      ASSERT_TRUE(copies_like_the_twin(c));
    }
  }
}

// Rows that are whole cache lines of the target go past the cache at any length; one that is not is none.
TEST(CopyStrided, StreamedLines) {
  alignas(64) static std::array<std::byte, 64 * 1024> target;
  const Bytes source = stamped(64 * 1024);
  for (const Index row : {64, 128, 192, 512, 8192})
    for (const Index shift : {0, 64, 8})
      for (const Index gap : {0, 64, 128, 8}) {
        target.fill(kPoison);
        Bytes expected(target.begin(), target.end());
        // A source that is contiguous, and one whose rows go in pairs and leave one over.
        const Index pitch = gap == 64 ? row : row + 24;
        const Stride loops[] = {{2, -3 * pitch, 3 * (row + gap)}, {3, pitch, row + gap}};
        const StridedCopy copy{.source_offset = 3 * pitch + 1,
                               .target_offset = shift,
                               .row_bytes = row,
                               .loops = loops,
                               .job_bytes = Index{1} << 30};
        copy_slowly(expected.data(), source.data(), copy);
        copy_strided(target.data(), source.data(), copy);
        ASSERT_TRUE(std::ranges::equal(target, expected)) << "row " << row << " at " << shift << ", gap " << gap;
      }
}

// Whole blocks of cache lines, parts of them at all edges, and too few for any; rows of the target that begin lines,
// that all could, and that differ.
TEST(CopyStrided, Transposes) {
  for_every_instruction_set([] {
    for (const Index element : {1, 2, 3, 4, 8, 16, 24})
      for (const auto& [rows, columns] : {std::pair<Index, Index>{129, 200}, {64, 64}, {5, 300}, {301, 3}, {700, 40}})
        for (const Index gap : {Index{0}, Index{1}, 64 - rows * element % 64})
          for (const Index shift : {0, 1, 16, 40})
            for (const Index job : {Index{0}, Index{1} << 30}) {
              Case c{.loops = {{rows, columns * element + gap, element}, {columns, element, rows * element + gap}},
                     .source_offset = shift,
                     .target_offset = shift,
                     .row_bytes = element};
              c.source_size = static_cast<std::size_t>(shift + rows * (columns * element + gap) + 64);
              c.target_size = static_cast<std::size_t>(shift + columns * (rows * element + gap) + 64);
              c.job_bytes = job;
              ASSERT_TRUE(copies_like_the_twin(c)) << "element " << element;
            }
  });
}

// Past the panels that are walked together.
TEST(CopyStrided, TransposesMoreThanOnePanel) {
  for (const Index element : {1, 4}) {
    const Index rows = 1100, columns = 530;
    Case c{.loops = {{rows, columns * element, element}, {columns, element, rows * element}}, .row_bytes = element};
    c.source_size = c.target_size = static_cast<std::size_t>(rows * columns * element);
    ASSERT_TRUE(copies_like_the_twin(c));
  }
}

// [a, b, c] to [c, b, a]: a tile spans the outermost and the innermost loop.
TEST(CopyStrided, TransposesThreeDimensions) {
  const Index a = 67, b = 5, d = 70, e = 4;
  Case c{.loops = {{a, b * d * e, e}, {b, d * e, a * e}, {d, e, a * b * e}}, .row_bytes = e};
  c.source_size = c.target_size = static_cast<std::size_t>(a * b * d * e);
  EXPECT_TRUE(copies_like_the_twin(c));
}

TEST(CopyStrided, MoreLoopsThanANestHolds) {
  Case c{.row_bytes = 3};
  Index reach = 3;
  for (int i = 0; i < 20; ++i) {
    const Index count = i % 3 == 0 ? 2 : 1;
    c.loops.insert(c.loops.begin(), {count, reach + 1, reach + 2});
    reach = (reach + 2) * count;
  }
  c.source_size = c.target_size = static_cast<std::size_t>(reach + 64);
  EXPECT_TRUE(copies_like_the_twin(c));
}

TEST(CopyStrided, NothingIsLegal) {
  std::byte target{kPoison};
  const std::byte source{1};
  const Stride none[] = {{0, 8, 8}, {3, 1, 1}};
  copy_strided(&target, &source, {.row_bytes = 1, .loops = none});
  copy_strided(&target, &source, {.row_bytes = 0});
  copy_strided(nullptr, nullptr, {.row_bytes = 0, .loops = none});
  EXPECT_EQ(target, kPoison);
}

// Past the streaming threshold by its own size, contiguous and strided.
TEST(CopyStrided, LargeJobs) {
  for (Index row : {Index{5} << 20, Index{4099}}) {
    Case c{.loops = {{(Index{6} << 20) / row, row, row + 1}}, .source_offset = 1, .target_offset = 3, .row_bytes = row};
    c.source_size = c.target_size = static_cast<std::size_t>((Index{6} << 20) + (Index{1} << 16));
    ASSERT_TRUE(copies_like_the_twin(c));
  }
}

}  // namespace
}  // namespace reshard
