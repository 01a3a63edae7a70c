#include "fabric/thread/heap_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace reshard::fabric {
namespace {

// From the heap, just below and just above the size from which windows are mapped, and not a multiple of a page.
TEST(HeapStore, MemoryIsAlignedAndZeroedAlsoTheSecondTime) {
  HeapStore store(Index{8} << 20);
  for (Index bytes : {Index{1}, Index{4097}, (Index{1} << 20) - 1, Index{1} << 20, (Index{5} << 20) + 3}) {
    for (int time = 0; time < 2; ++time) {
      std::byte* memory = store.allocate(bytes);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u) << bytes;
      for (Index i = 0; i < bytes; ++i) ASSERT_EQ(memory[i], std::byte{0}) << bytes << " bytes, byte " << i;
      std::memset(memory, 0x77, static_cast<std::size_t>(bytes));
      store.release(memory, bytes);
    }
  }
}

TEST(HeapStore, NothingIsNull) {
  HeapStore store(Index{8} << 20);
  EXPECT_EQ(store.allocate(0), nullptr);
  store.release(nullptr, 0);
}

TEST(HeapStore, KeepsLargeBlocksUpToABound) {
  HeapStore store(Index{5} << 20);
  std::byte* const three = store.allocate(Index{3} << 20);
  std::byte* const two = store.allocate((Index{2} << 20) - 1);
  std::byte* const one = store.allocate(Index{1} << 20);
  std::memset(three, 0x77, std::size_t{3} << 20);
  store.release(three, Index{3} << 20);
  store.release(two, (Index{2} << 20) - 1);
  store.release(one, Index{1} << 20);
  EXPECT_EQ(store.allocate(Index{2} << 20), two);
  std::byte* const again = store.allocate(Index{3} << 20);
  EXPECT_EQ(again, three);
  EXPECT_EQ(std::count(again, again + (Index{3} << 20), std::byte{0}), Index{3} << 20);
}

// The rest is the leak checker's.
TEST(HeapStore, FreesWhatWasNotReleased) {
  HeapStore store(Index{8} << 20);
  store.allocate(100);
  store.allocate(Index{3} << 20);
}

}  // namespace
}  // namespace reshard::fabric
