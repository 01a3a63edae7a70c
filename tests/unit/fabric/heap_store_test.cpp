#include "fabric/thread/heap_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace reshard::fabric {
namespace {

// From the heap, just below and just above the size from which windows are mapped, and not a multiple of a page.
TEST(HeapStore, MemoryIsAlignedAndZeroedAlsoTheSecondTime) {
  HeapStore store;
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
  HeapStore store;
  EXPECT_EQ(store.allocate(0), nullptr);
  store.release(nullptr, 0);
}

// The rest is the leak checker's.
TEST(HeapStore, FreesWhatWasNotReleased) {
  HeapStore store;
  store.allocate(100);
  store.allocate(Index{3} << 20);
}

}  // namespace
}  // namespace reshard::fabric
