#include "fabric/shm/slice_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "reshard/error.h"

namespace reshard::fabric {
namespace {

constexpr Index kMiB = Index{1} << 20;
constexpr Index kKept = 8 * kMiB;

bool is_zero(const std::byte* memory, Index bytes) {
  return std::all_of(memory, memory + bytes, [](std::byte b) { return b == std::byte{0}; });
}

TEST(SliceStore, MemoryIsZeroedAlsoTheSecondTime) {
  Arena arena(2, 100, 4 * kMiB);
  SliceStore store(arena, RankId(1), kKept);
  std::byte* first = store.allocate(3 * kMiB);
  ASSERT_TRUE(is_zero(first, 3 * kMiB));
  std::memset(first, 0x77, 3 * kMiB);
  store.release(first, 3 * kMiB);
  std::byte* second = store.allocate(3 * kMiB);
  EXPECT_EQ(second, first);
  EXPECT_TRUE(is_zero(second, 3 * kMiB));
}

TEST(SliceStore, ReleasedMemoryIsKeptUpToABoundAndTheRestGoesBackToTheSystem) {
  Arena arena(1, 100, 64 * kMiB);
  SliceStore store(arena, RankId(0), kKept);
  const Index before = arena.resident_bytes();
  std::byte* small = store.allocate(kKept - 1);
  std::byte* large = store.allocate(16 * kMiB);
  EXPECT_GE(arena.resident_bytes(), before + 16 * kMiB + kKept);
  store.release(small, kKept - 1);
  store.release(large, 16 * kMiB);
  EXPECT_EQ(arena.resident_bytes(), before + kKept);
  EXPECT_EQ(store.allocate(kKept), small);
  EXPECT_EQ(arena.resident_bytes(), before + kKept);
}

// What is kept for later does not stand in the way of a window that needs its place.
TEST(SliceStore, KeptMemoryMakesRoom) {
  Arena arena(1, 100, 4 * kMiB);
  SliceStore store(arena, RankId(0), 2 * kMiB);
  std::array<std::byte*, 4> pieces{};
  for (std::byte*& piece : pieces) piece = store.allocate(kMiB);
  for (std::byte* piece : {pieces[0], pieces[2], pieces[1], pieces[3]}) {
    std::memset(piece, 0x77, kMiB);
    store.release(piece, kMiB);
  }
  std::byte* page = store.allocate(100);  // out of what is kept
  EXPECT_TRUE(is_zero(page, 4096));
  store.release(page, 100);
  std::byte* all = store.allocate(4 * kMiB);
  EXPECT_EQ(all, pieces[0]);
  EXPECT_TRUE(is_zero(all, 4 * kMiB));
  EXPECT_THROW(store.allocate(1), Error);
}

TEST(SliceStore, PiecesJoinAgainWhateverTheOrder) {
  Arena arena(1, 100, 3 * kMiB);
  for (const auto& order : {std::array{0, 1, 2}, std::array{2, 1, 0}, std::array{0, 2, 1}, std::array{1, 0, 2}}) {
    SliceStore store(arena, RankId(0), kKept);
    std::array<std::byte*, 3> pieces{store.allocate(kMiB), store.allocate(kMiB - 1), store.allocate(kMiB)};
    EXPECT_THROW(store.allocate(1), Error);
    const std::array<Index, 3> bytes{kMiB, kMiB - 1, kMiB};
    for (int i : order) store.release(pieces[static_cast<std::size_t>(i)], bytes[static_cast<std::size_t>(i)]);
    std::byte* all = store.allocate(3 * kMiB);
    EXPECT_EQ(all, pieces[0]);
    store.release(all, 3 * kMiB);
  }
}

TEST(SliceStore, SlicesOfRanksAreApart) {
  Arena arena(3, 100, kMiB);
  SliceStore low(arena, RankId(0), kKept), high(arena, RankId(2), kKept);
  std::byte* a = low.allocate(kMiB);
  std::byte* b = high.allocate(kMiB);
  std::memset(a, 1, kMiB);
  EXPECT_TRUE(is_zero(b, kMiB));
  EXPECT_EQ(low.find(RankId(2), high.place_of(b)), b);
  EXPECT_EQ(high.find(RankId(0), low.place_of(a)), a);
}

TEST(SliceStore, NoRoomSaysHowMuchThereIs) {
  Arena arena(1, 100, kMiB);
  SliceStore store(arena, RankId(0), kKept);
  EXPECT_EQ(store.allocate(0), nullptr);
  try {
    store.allocate(2 * kMiB);
    FAIL() << "2 MiB out of 1 MiB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::io);
    EXPECT_NE(std::string(error.what()).find("1048576 of this rank's 1048576 bytes"), std::string::npos)
        << error.what();
  }
}

// 2^62 bytes per rank is more than any machine addresses: less is taken.
TEST(SliceStore, AsksForLessAddressSpaceWhereThereIsLess) {
  Arena arena(8, 100, Index{1} << 62);
  SliceStore store(arena, RankId(7), kKept);
  EXPECT_NE(store.allocate(kMiB), nullptr);
}

}  // namespace
}  // namespace reshard::fabric
