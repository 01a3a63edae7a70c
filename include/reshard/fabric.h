// The fabric seam: what carries bytes and notifications between ranks. Knows bytes and ranks only.
//
// Every rank of a world holds one Endpoint. Windows and signals are created collectively, in the same order on every
// rank; creation returns only when they exist, zeroed, on all ranks. All windows of a world live until they are
// destroyed collectively or the world ends.
//
// Completion: `get` returns when the bytes are in local memory. `put` is visible at the peer no later than a `notify`
// to the same peer that follows a `fence`; so is `accumulate`. `notify` releases, `wait` acquires.
//
// Threads: an Endpoint is confined to its rank (one thread at a time).
// Errors: bounds and unknown ids are checked at the caller and throw Error(invalid_argument); a wait past its deadline
// throws Error(timeout) that names rank, signal, slot, expected and seen; a rank that died throws Error(peer_lost).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "reshard/index.h"
#include "reshard/strided_copy.h"

namespace reshard {

using Clock = std::chrono::steady_clock;

struct Capabilities {
  bool load_store = false;  // peers' windows can be read and written as memory of this process
  bool host_memory = true;
  Index max_message = 0;  // bytes per put or get; 0 = no limit
};

struct WindowId {
  int value = -1;
  friend bool operator==(WindowId, WindowId) = default;
};
struct SignalId {
  int value = -1;
  friend bool operator==(SignalId, SignalId) = default;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual RankId rank() const = 0;
  virtual Index ranks() const = 0;
  virtual Capabilities capabilities() const = 0;

  // Collective. `bytes` may differ between ranks and be 0. `name` appears in errors and must agree on all ranks.
  virtual WindowId create_window(std::string_view name, Index bytes, Clock::time_point deadline) = 0;
  virtual SignalId create_signal(std::string_view name, Index slots, Clock::time_point deadline) = 0;
  // Collective: return when no rank can reach the window or signal any more; its memory goes back to the system.
  virtual void destroy_window(WindowId window, Clock::time_point deadline) = 0;
  virtual void destroy_signal(SignalId signal, Clock::time_point deadline) = 0;

  // This rank's memory of a window; valid until it is destroyed. 64-byte aligned.
  virtual std::span<std::byte> memory(WindowId window) = 0;
  virtual Index window_bytes(WindowId window, RankId rank) const = 0;

  // From a peer's window into local memory (`target` is addressed by target_offset), and the reverse.
  virtual void get(RankId peer, WindowId window, const StridedCopy& copy, std::span<std::byte> target) = 0;
  virtual void put(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source) = 0;

  // As put, but the target becomes combine(target, source): a CopyKernel that adds, say, where a copy replaces. Of all
  // accumulates into one window of one rank, one at a time reads and writes; puts, gets and the rank itself do not take
  // turns with them. May block while others are at it: throws Error(timeout) past the deadline, Error(peer_lost).
  virtual void accumulate(RankId peer, WindowId window, const StridedCopy& copy, std::span<const std::byte> source,
                          CopyKernel combine, Clock::time_point deadline) = 0;

  enum class Update { set, add };
  enum class Until { equal, greater_equal };
  virtual void notify(RankId peer, SignalId signal, Index slot, std::uint64_t value, Update update) = 0;
  // On this rank's own signal.
  virtual void wait(SignalId signal, Index slot, std::uint64_t value, Until until, Clock::time_point deadline) = 0;
  virtual std::uint64_t peek(SignalId signal, Index slot) const = 0;
  virtual void fence() = 0;
  virtual void barrier(Clock::time_point deadline) = 0;
  // Throws Error(peer_lost) if a rank has died or failed: for long work between two waits. Costs one load.
  virtual void check_peers() const = 0;
};

}  // namespace reshard
