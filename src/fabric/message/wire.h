// A wire: messages from rank to rank, in order, with strided payloads. What MPI, UCX and a wire inside one process have
// in common; MessageEndpoint makes windows and signals of it.
//
// Payloads are gathered from the sender's memory and scattered into the receiver's: packing, if a wire needs it, is its
// own affair, in pieces that stay in the cache.
//
// Thread rule: confined to its rank. No call blocks but sleep().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "reshard/fabric.h"

namespace reshard::fabric {

// One end of a strided copy: rows of contiguous bytes, nested loops of steps. Views what outlives it.
struct Strided {
  struct Loop {
    Index count = 0;
    Index step = 0;  // bytes, may be negative
  };
  static constexpr std::size_t kMaxLoops = 16;

  std::byte* base = nullptr;  // of the first row; not written when it is what is sent
  Index row_bytes = 0;
  std::span<const Loop> loops = {};  // slowest first
  Index bytes() const {
    Index all = row_bytes;
    for (const Loop& loop : loops) all *= loop.count;
    return all;
  }
};

// What a wire tells whoever uses it, from inside progress(). Calls to the wire are allowed, progress() and sleep()
// excepted.
class WireEvents {
 public:
  virtual ~WireEvents() = default;
  // A message has come whose payload has `payload_bytes`. Returns where that goes (of as many bytes), and what
  // `finished` is told once it is there; loops must live until then. `header` lives during the call only.
  // Headers of one peer come in the order sent, even while payloads before them are still on their way.
  struct Place {
    Strided target = {};
    std::uint64_t ticket = 0;
  };
  virtual Place arrived(RankId from, std::span<const std::byte> header, Index payload_bytes) = 0;
  virtual void finished(RankId from, std::uint64_t ticket) = 0;
  // The payload of a message of this rank has been read and may change.
  virtual void sent(RankId to, std::uint64_t ticket) = 0;
  // Nothing more will come from the peer, nor reach it. Told once.
  virtual void lost(RankId peer, std::string_view why) = 0;
};

class Wire {
 public:
  static constexpr std::size_t kMaxHeader = 1024;

  virtual ~Wire() = default;
  virtual RankId rank() const = 0;
  virtual Index ranks() const = 0;
  // Queues a message. The header is copied; the payload is read until sent(ticket). A message without payload is told
  // no sent(). To a lost peer: dropped, and told as sent. After warm-up, allocates nothing.
  virtual void send(RankId to, std::span<const std::byte> header, const Strided& payload, std::uint64_t ticket) = 0;
  // Moves things along and tells what has happened. Returns whether anything has.
  virtual bool progress(WireEvents& events) = 0;
  // Returns when there may be something to do, or at `until`; wires that cannot sleep return soon.
  virtual void sleep(Clock::time_point until) = 0;
  // No message from the peer any more, and none to it; memory given for payloads to it and from it is not touched after
  // the return. Messages without payload that were sent before may still reach it, and do when the peer is well: the
  // last words of a rank that leaves are among them.
  virtual void drop(RankId peer) = 0;
};

}  // namespace reshard::fabric
