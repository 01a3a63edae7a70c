// The fabric seam: what carries bytes and notifications between ranks. Knows bytes and ranks only.
//
// Every rank of a world holds one Endpoint. Windows and signals are created collectively, in the same order on every
// rank; creation returns only when they exist, zeroed, on all ranks. All windows of a world live until they are
// destroyed collectively or the world ends.
//
// Completion: `get` returns when the bytes are in local memory. `put` is visible at the peer no later than a `notify`
// to the same peer that follows a `fence`; so is `accumulate`. The local memory of a put may be read until the fence
// returns, and must not change before. `notify` releases, `wait` acquires.
//
// Progress: where a fabric only has messages (Capabilities::needs_service), a rank serves its peers while it is inside
// a call that may block (get, fence, wait, barrier, the collective ones) or in progress(); a rank that computes for
// long makes them wait. A rank that leaves its body serves them until all have left.
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
  bool load_store = false;  // windows of the peers on one's own host (host_of) are memory of this process
  bool host_memory = true;
  bool needs_service = false;   // what peers ask for is done only while this rank is inside the fabric
  bool exposes_private = true;  // expose_window takes memory that stays private
  Index max_message = 0;        // bytes per put or get; 0 = no limit
};

// How memory that exists already becomes a window.
enum class Exposure {
  // It becomes memory that peers reach as any window. Its pages may be replaced by shared ones that hold the same, at
  // the same address, so nobody may write there during the call, and what else lies on the same pages is shared too.
  // When the window is destroyed the memory stays, with what it holds.
  shared,
  // It stays as it is; peers reach it through the kernel, or its owner serves them. Slower for each transfer, free to
  // set up.
  in_place,
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
  // Number of the host of a rank: hosts count from 0, in the order of the lowest rank on each. What is one host is for
  // the fabric to say: ranks that share memory.
  virtual Index host_of(RankId rank) const = 0;

  // Collective. `bytes` may differ between ranks and be 0. `name` appears in errors and must agree on all ranks.
  virtual WindowId create_window(std::string_view name, Index bytes, Clock::time_point deadline) = 0;
  virtual SignalId create_signal(std::string_view name, Index slots, Clock::time_point deadline) = 0;
  // Collective. As create_window, but over memory of the caller that is there already, and is neither zeroed nor freed.
  // `how` must agree on all ranks. The memory must stay until the window is destroyed or the world has ended.
  virtual WindowId expose_window(std::string_view name, std::span<std::byte> memory, Exposure how,
                                 Clock::time_point deadline) = 0;
  // Collective: return when no rank can reach the window or signal any more; its memory goes back to the system,
  // or is kept for later windows.
  virtual void destroy_window(WindowId window, Clock::time_point deadline) = 0;
  virtual void destroy_signal(SignalId signal, Clock::time_point deadline) = 0;

  // This rank's memory of a window; valid until it is destroyed. 64-byte aligned.
  virtual std::span<std::byte> memory(WindowId window) = 0;
  virtual Index window_bytes(WindowId window, RankId rank) const = 0;
  // A peer's memory of a window, where this rank may load from it and store to it as a get and a put would, at the same
  // times, but without a call for each; null where it may not, or where calls are to be seen. Valid as memory() is.
  virtual std::byte* peer_memory(WindowId, RankId) { return nullptr; }

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
  // Does what peers have asked for, and returns. Nothing where needs_service is false.
  virtual void progress() = 0;
  virtual void barrier(Clock::time_point deadline) = 0;
  // Throws Error(peer_lost) if a rank has died or failed: for long work between two waits. Costs one load. Where the
  // fabric needs_service it knows what calls that may block, or progress(), have brought.
  virtual void check_peers() const = 0;
};

}  // namespace reshard
