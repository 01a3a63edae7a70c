// Windows of ranks that are processes: pieces of the rank's slice of the arena.
#pragma once

#include "fabric/host/window_store.h"
#include "fabric/shm/arena.h"
#include "fabric/shm/pieces_of_slice.h"

namespace reshard::fabric {

// In whole pages. Only the owner allocates, so the list of free pieces is its own and no lock is needed; peers learn
// places from the offers of collective calls.
//
// Released pages stay, up to a bound, and are the next windows: zeroing them takes a fraction of the time of new ones.
class SliceStore final : public WindowStore {
 public:
  SliceStore(Arena& arena, RankId rank, Index kept_memory);

  std::byte* allocate(Index bytes) override;
  void release(std::byte* memory, Index bytes) override;
  // Memory that shares a page with what is shared already, that belongs to a file, or that lies on the caller's stack
  // is exposed in place whatever `how` says.
  Exposed expose(std::span<std::byte> memory, Exposure how) override;
  void conceal(std::span<std::byte> memory, const Exposed& exposed) override;
  std::uint64_t place_of(const std::byte* memory) const override;
  std::byte* find(RankId owner, std::uint64_t place) const override { return arena_.slice(owner).data() + place; }

 private:
  enum class Contents { zero, any };
  std::byte* allocate(Index bytes, Contents contents);
  std::byte* populated(Index offset, Index bytes);
  void discard_kept();

  Arena& arena_;
  RankId rank_;
  std::span<std::byte> slice_;
  Index kept_memory_;
  PiecesOfSlice free_;  // all of it is zero, and takes no memory
  PiecesOfSlice kept_;  // takes memory, and holds what windows have left
};

}  // namespace reshard::fabric
