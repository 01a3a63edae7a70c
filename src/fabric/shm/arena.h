// The memory of a world of processes: one anonymous file, mapped before the ranks are forked, so that every rank sees
// it at the same address and a pointer means the same everywhere. First the world's state, then one slice per rank.
#pragma once

#include <cstddef>
#include <span>

#include "reshard/index.h"

namespace reshard::fabric {

// Sparse: only what is touched takes memory. Unmapped, and with the last process gone, freed at the end.
class Arena {
 public:
  // Slices may come out smaller than asked where address space is short. Throws Error(io) if they cannot be had at all.
  Arena(Index ranks, Index state_bytes, Index slice_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::byte* state() { return base_; }
  std::span<std::byte> slice(RankId rank);
  // Frees the memory of whole pages; they read as zero afterwards.
  void discard(std::byte* memory, Index bytes);
  // Memory in use by all ranks, in bytes.
  Index resident_bytes() const;

 private:
  std::byte* base_ = nullptr;
  Index state_bytes_ = 0;
  Index slice_bytes_ = 0;
  Index mapped_bytes_ = 0;
  int file_ = -1;
};

}  // namespace reshard::fabric
