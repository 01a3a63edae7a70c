// Windows of ranks that are processes: pieces of the rank's slice of the arena.
#pragma once

#include <map>

#include "fabric/host/window_store.h"
#include "fabric/shm/arena.h"

namespace reshard::fabric {

// First fit, in whole pages. Only the owner allocates, so the list of free pieces is its own and no lock is needed;
// peers learn places from the offers of collective calls.
class SliceStore final : public WindowStore {
 public:
  SliceStore(Arena& arena, RankId rank);

  std::byte* allocate(Index bytes) override;
  void release(std::byte* memory, Index bytes) override;
  // Memory that shares a page with what is shared already, that belongs to a file, or that lies on the caller's stack
  // is exposed in place whatever `how` says.
  Exposed expose(std::span<std::byte> memory, Exposure how) override;
  void conceal(std::span<std::byte> memory, const Exposed& exposed) override;
  std::uint64_t place_of(const std::byte* memory) const override;
  std::byte* find(RankId owner, std::uint64_t place) const override { return arena_.slice(owner).data() + place; }

 private:
  void give_back(Index offset, Index bytes);

  Arena& arena_;
  RankId rank_;
  std::span<std::byte> slice_;
  std::map<Index, Index> free_;  // offset -> bytes; never two that touch. All of it is zero.
};

}  // namespace reshard::fabric
