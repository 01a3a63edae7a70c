// One end of a copy as rows: merged, walked in pieces, cut.
#include "fabric/message/strided.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "fabric/host/row_copy.h"
#include "fabric/message/pieces.h"

namespace reshard::fabric {
namespace {

TEST(StridedEnd, RowsThatTouchBecomeOneRow) {
  const Stride loops[] = {{3, 100, 8}, {1, 7, 7}, {2, 4, 4}};
  const StridedCopy copy{.source_offset = 5, .target_offset = 2, .row_bytes = 4, .loops = loops};
  StridedLoops kept;
  std::byte memory[1];
  const Strided target = strided_end(copy, End::target, memory, kept);
  EXPECT_EQ(target.base, memory + 2);
  EXPECT_EQ(target.row_bytes, 24);
  EXPECT_TRUE(target.loops.empty());
  const Strided source = strided_end(copy, End::source, memory, kept);
  EXPECT_EQ(source.row_bytes, 8);
  ASSERT_EQ(source.loops.size(), 1);
  EXPECT_EQ(source.loops[0].count, 3);
  EXPECT_EQ(source.loops[0].step, 100);
}

TEST(StridedEnd, LoopsThatContinueEachOtherBecomeOneLoop) {
  const Stride loops[] = {{5, 0, 60}, {3, 0, 20}, {2, 0, -3}};
  StridedLoops kept;
  std::byte memory[1];
  const Strided target = strided_end({.row_bytes = 3, .loops = loops}, End::target, memory, kept);
  ASSERT_EQ(target.loops.size(), 2);
  EXPECT_EQ(target.loops[0].count, 15);
  EXPECT_EQ(target.loops[0].step, 20);
  EXPECT_EQ(target.loops[1].step, -3);
  EXPECT_EQ(target.bytes(), 90);
}

struct RandomCopy {
  std::vector<Stride> loops;
  StridedCopy copy;
};

// Up to three loops in which no row of the target touches another, forwards or backwards.
RandomCopy random_copy(std::mt19937& random, Index bytes) {
  RandomCopy made;
  Index reach = made.copy.row_bytes = 1 + static_cast<Index>(random() % 9);
  Index back = 0;
  for (std::size_t i = random() % 4; i > 0; --i) {
    const Index count = 1 + static_cast<Index>(random() % 4);
    const Index step = reach + static_cast<Index>(random() % 3);
    const bool is_backwards = random() % 3 == 0;
    if (is_backwards) back += (count - 1) * step;
    made.loops.insert(made.loops.begin(), {count, static_cast<Index>(random() % 5), is_backwards ? -step : step});
    reach = count * step;
  }
  made.copy.target_offset = back + static_cast<Index>(random() % 4);
  EXPECT_LT(made.copy.target_offset + reach, bytes);
  made.copy.loops = made.loops;
  return made;
}

// Gathered in pieces of any length and scattered in pieces of others, a copy does what copying rows does.
TEST(StridedWalk, AgreesWithCopyingRows) {
  std::mt19937 random(4711);
  for (int round = 0; round < 300; ++round) {
    const RandomCopy made = random_copy(random, 4096);
    std::vector<std::byte> source(4096), expected(4096), got(4096);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
    copy_rows(expected.data(), source.data(), made.copy);
    StridedLoops from_loops, to_loops;
    StridedWalk from(strided_end(made.copy, End::source, source.data(), from_loops));
    StridedWalk to(strided_end(made.copy, End::target, got.data(), to_loops));
    const Index bytes = from.left();
    ASSERT_EQ(bytes, to.left()) << "round " << round;
    std::vector<std::byte> packed(static_cast<std::size_t>(bytes));
    for (Index done = 0; done < bytes;) {
      const Index piece = std::min(bytes - done, 1 + static_cast<Index>(random() % 11));
      from.gather(packed.data() + done, piece);
      done += piece;
    }
    for (Index done = 0; done < bytes;) {
      const Index piece = std::min(bytes - done, 1 + static_cast<Index>(random() % 13));
      to.scatter(packed.data() + done, piece);
      done += piece;
    }
    ASSERT_EQ(got, expected) << "round " << round;
    EXPECT_EQ(to.left(), 0);
  }
}

// The pieces of a copy are the copy, and none is longer than allowed.
TEST(InPieces, TogetherAreTheCopy) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    const RandomCopy made = random_copy(random, 4096);
    std::vector<std::byte> source(4096), expected(4096), got(4096);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
    copy_rows(expected.data(), source.data(), made.copy);
    const std::size_t max_loops = random() % 4;
    in_pieces(made.copy, 64, max_loops, [&](const StridedCopy& piece) {
      EXPECT_LE(bytes_of_copy(piece), 64);
      EXPECT_LE(piece.loops.size(), max_loops);
      copy_rows(got.data(), source.data(), piece);
    });
    ASSERT_EQ(got, expected) << "round " << round;
  }
}

TEST(InPieces, RowsAreCutAtMultiplesOf64) {
  std::vector<Index> lengths;
  in_pieces({.source_offset = 3, .target_offset = 9, .row_bytes = 200}, 100, 16, [&](const StridedCopy& piece) {
    EXPECT_EQ(piece.target_offset - piece.source_offset, 6);
    lengths.push_back(piece.row_bytes);
  });
  EXPECT_EQ(lengths, (std::vector<Index>{64, 64, 64, 8}));
}

}  // namespace
}  // namespace reshard::fabric
