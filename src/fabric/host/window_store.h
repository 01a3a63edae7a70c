// Where one rank's windows and signals get their memory. The host fabrics differ in this alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reshard/fabric.h"

namespace reshard::fabric {

class WindowStore {
 public:
  virtual ~WindowStore() = default;
  // Zeroed, present in memory, 64-byte aligned. Null for 0 bytes.
  // Throws Error(io) when there is no room.
  virtual std::byte* allocate(Index bytes) = 0;
  // The memory goes back to the system, or is kept for what is allocated later. `bytes` as allocated.
  virtual void release(std::byte* memory, Index bytes) = 0;
  // Memory of the caller as part of a window, with what it holds; see Exposure. Throws Error(io) when there is no room.
  struct Exposed {
    std::uint64_t place = 0;  // for find(); of private memory, the address
    bool is_private = false;  // peers reach it by PrivateMemory
  };
  virtual Exposed expose(std::span<std::byte> memory, Exposure how) = 0;
  // The memory is the caller's alone again, with what it holds.
  virtual void conceal(std::span<std::byte> memory, const Exposed& exposed) = 0;
  // Memory of this store as a number that says the same to every rank, and what that number of `owner`'s store means
  // here: processes may see one memory at different addresses.
  virtual std::uint64_t place_of(const std::byte* memory) const = 0;
  virtual std::byte* find(RankId owner, std::uint64_t place) const = 0;
};

// Up to whole pages, and no further than 2^63.
Index round_to_pages(Index bytes);
// Touches every page now, by one system call: a page fault each is 2 to 3 times dearer. Throws Error(io) without
// memory.
void populate(std::byte* memory, std::size_t bytes);

}  // namespace reshard::fabric
