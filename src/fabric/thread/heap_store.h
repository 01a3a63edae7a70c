// Windows of ranks that are threads: memory of the process.
#pragma once

#include <map>

#include "fabric/host/window_store.h"

namespace reshard::fabric {

// Small windows come from the heap, where the address sanitizer sees an access outside them. Large ones are mapped, on
// huge pages where there are any; released, they stay up to a bound and are the next windows of their size, and beyond
// it go back to the system.
// Thread rule: confined. Frees what was not released when it ends.
class HeapStore final : public WindowStore {
 public:
  explicit HeapStore(Index kept_memory) : kept_memory_(kept_memory) {}
  HeapStore(const HeapStore&) = delete;
  HeapStore& operator=(const HeapStore&) = delete;
  ~HeapStore() override;

  std::byte* allocate(Index bytes) override;
  void release(std::byte* memory, Index bytes) override;
  // All memory is that of one process.
  Exposed expose(std::span<std::byte> memory, Exposure) override { return {.place = place_of(memory.data())}; }
  void conceal(std::span<std::byte>, const Exposed&) override {}
  std::uint64_t place_of(const std::byte* memory) const override { return reinterpret_cast<std::uintptr_t>(memory); }
  std::byte* find(RankId, std::uint64_t place) const override { return reinterpret_cast<std::byte*>(place); }

 private:
  std::byte* take_kept(Index bytes);

  std::map<std::byte*, Index> held_;
  Index kept_memory_;
  std::multimap<Index, std::byte*> kept_;  // by the bytes of their pages; holds what windows have left
  Index kept_bytes_ = 0;
};

}  // namespace reshard::fabric
