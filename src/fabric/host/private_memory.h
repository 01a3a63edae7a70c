// Memory of other ranks that is not memory of this process: how it is reached all the same.
#pragma once

#include <cstdint>

#include "fabric/host/duties.h"
#include "reshard/fabric.h"

namespace reshard::fabric {

// A window's part that stayed private to its owner.
struct PrivatePart {
  RankId owner;
  WindowId window;
  std::uint64_t address = 0;  // at its owner
};

// Thread rule: confined. Bounds have been checked. Both calls return when the bytes have arrived. They throw
// Error(peer_lost), Error(timeout) when the owner has to serve and does not, Error(io) where its memory is gone.
class PrivateMemory {
 public:
  virtual ~PrivateMemory() = default;
  virtual void get(const PrivatePart& from, const StridedCopy& copy, std::byte* target) = 0;
  virtual void put(const PrivatePart& to, const StridedCopy& copy, const std::byte* source) = 0;

  // What has to be done for peers in waits; null if they can do it themselves.
  virtual Service* service() = 0;
  // Memory of this rank that peers may reach from now on; and that they no longer reach, once this returns.
  virtual void expose(WindowId window, std::span<std::byte> memory) = 0;
  virtual void conceal(WindowId window) = 0;
};

}  // namespace reshard::fabric
