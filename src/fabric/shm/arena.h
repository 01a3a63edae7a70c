// The memory of a world of processes: one file per rank, mapped by all. Each begins with bytes for the state of the
// world (front.h says which); the rest is the slice for the windows of its rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fabric/shm/memory_file.h"

namespace reshard::fabric {

class Arena {
 public:
  // Makes all files: processes that are forked from this one see them at the same addresses.
  // Slices may come out smaller than asked where address space is short. Throws Error(io) if they cannot be had at all.
  Arena(Index ranks, Index state_bytes, Index slice_bytes);
  // Of files that ranks have made apart, in the order of ranks.
  Arena(std::vector<MemoryFile> files, Index state_bytes);

  std::span<std::byte> slice(RankId rank);
  const MemoryFile& file(RankId rank) const { return files_[static_cast<std::size_t>(rank.value())]; }
  // Of a rank's slice: frees the memory of whole pages; they read as zero afterwards.
  void discard(RankId rank, std::byte* memory, Index bytes);
  // Memory in use by all ranks, in bytes.
  Index resident_bytes() const;

 private:
  std::vector<MemoryFile> files_;
  Index state_bytes_ = 0;
};

// As many files as there are ranks, each with a slice of `slice_bytes`, or of less where address space is short.
// Throws Error(io) if even small ones cannot be had.
std::vector<MemoryFile> make_files(Index count, Index state_bytes, Index slice_bytes);

}  // namespace reshard::fabric
