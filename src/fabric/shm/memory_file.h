// An anonymous file in memory, mapped: what processes share. It has no name, so that none can collide or leak, and is
// gone with the last process that has it open or mapped.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "reshard/index.h"

namespace reshard::fabric {

// Sparse: only what is touched takes memory.
class MemoryFile {
 public:
  // Zeroed. Throws Error(io) when it cannot be had, as where address space is short.
  explicit MemoryFile(Index bytes);
  // The file that process `owner` has open as `descriptor`. Throws Error(io) where the system forbids it.
  MemoryFile(pid_t owner, int descriptor, Index bytes);
  ~MemoryFile();
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;

  std::byte* base() const { return base_; }
  Index bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }
  // Frees the memory of whole pages; they read as zero afterwards.
  void discard(Index offset, Index bytes);
  // Memory in use, in bytes.
  Index resident_bytes() const;

 private:
  void map();

  int descriptor_ = -1;
  Index bytes_ = 0;
  std::byte* base_ = nullptr;
};

}  // namespace reshard::fabric
