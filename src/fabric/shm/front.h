// What each file of an arena begins with, before the slice: a mark, the world's state (used in the first file), and the
// channel of the file's rank.
#pragma once

#include <memory>

#include "fabric/shm/kernel_copy.h"
#include "fabric/shm/served_copy.h"

namespace reshard::fabric {

class Front {
 public:
  static Index bytes(Index ranks) { return channel_offset(ranks) + static_cast<Index>(sizeof(Channel)); }
  static Index channel_offset(Index ranks) {
    const auto end = sizeof(Front) + WorldState::bytes_for(ranks);
    return static_cast<Index>((end + alignof(Channel) - 1) / alignof(Channel) * alignof(Channel));
  }

  // In the memory, zeroed, that a file begins with.
  static Front& construct(std::byte* memory, Index ranks, std::uint64_t mark) {
    new (memory + channel_offset(ranks)) Channel;
    return *new (memory) Front(mark);
  }
  static Front& of(std::byte* memory) { return *reinterpret_cast<Front*>(memory); }

  // A number by which whoever opens the file sees that it is the right one.
  std::uint64_t mark() const { return mark_; }
  std::byte* world() { return reinterpret_cast<std::byte*>(this + 1); }

 private:
  explicit Front(std::uint64_t mark) : mark_(mark) {}
  alignas(64) std::uint64_t mark_;
};

// How ranks of one arena reach each other's private memory. The same kind on all.
inline std::unique_ptr<PrivateMemory> private_memory(bool by_kernel, WorldState& world, RankId here, Arena& arena,
                                                     Watch* watch, CopyKernel copy) {
  if (by_kernel) return std::make_unique<KernelCopy>(world, here, watch, copy);
  return std::make_unique<ServedCopy>(world, here, arena, Front::channel_offset(world.ranks()), watch);
}

}  // namespace reshard::fabric
