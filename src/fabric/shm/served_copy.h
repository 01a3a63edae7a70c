// Memory of other processes, where the kernel does not copy between them: its owner does, through a few chunks of
// shared memory that asker and owner fill and drain at the same time.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "fabric/host/private_memory.h"
#include "fabric/host/world_state.h"
#include "fabric/message/strided.h"
#include "fabric/shm/arena.h"

namespace reshard::fabric {

// What a rank asks of the owner of a window, and the chunks through which the bytes go. One per rank, in its file: a
// rank asks for one thing at a time.
struct alignas(64) Channel {
  static constexpr std::uint64_t kChunks = 4;
  static constexpr Index kChunkBytes = Index{128} << 10;  // four of them stay in a cache of 1 MiB

  // Written by the asker, not changed before it is answered.
  struct Request {
    std::int32_t window = -1;
    bool is_put = false;
    Index offset = 0;  // of the first row, in the owner's memory
    Index row_bytes = 0;
    std::uint32_t loop_count = 0;
    std::array<Strided::Loop, Strided::kMaxLoops> loops{};
  };
  Request request;
  alignas(64) std::atomic<std::uint64_t> asked{0};     // number of the request << 16 | its owner
  alignas(64) std::atomic<std::uint64_t> answered{0};  // as asked, once the owner has done its part
  std::atomic<bool> is_refused{false};                 // the owner has no such window; before answered
  alignas(64) std::atomic<std::uint64_t> filled{0};    // chunks of all requests
  alignas(64) std::atomic<std::uint64_t> drained{0};
  std::array<std::array<std::byte, kChunkBytes>, kChunks> chunks;
};

class ServedCopy final : public PrivateMemory, private Service {
 public:
  // Bytes of each file's state from `offset` on hold its rank's channel, zeroed. `watch` may be null.
  ServedCopy(WorldState& world, RankId here, Arena& arena, Index offset, Watch* watch);

  void get(const PrivatePart& from, const StridedCopy& copy, std::byte* target) override;
  void put(const PrivatePart& to, const StridedCopy& copy, const std::byte* source) override;
  Service* service() override { return this; }
  void expose(WindowId window, std::span<std::byte> memory) override;
  void conceal(WindowId window) override;

 private:
  // What this rank does for an asker.
  struct Serving {
    std::uint64_t asked = 0;  // of the request it looks at; 0: none yet
    bool is_open = false;
    bool is_put = false;
    int window = -1;
    StridedLoops loops;
    StridedWalk walk;
  };

  void serve() override;
  void look_for_requests();
  void begin(Channel& channel, Serving& serving);
  // One after another, as many chunks as the asker has filled or drained.
  void go_on(RankId asker);
  void answer(RankId asker, bool is_refused);

  // Asks, and moves chunks until all of `here` is done. `here` is this rank's end.
  void transfer(const PrivatePart& part, bool is_put, const Strided& there, const Strided& here);
  void ask(const PrivatePart& part, bool is_put, const Strided& there);
  template <class Ready>
  void wait(const PrivatePart& part, const Ready& ready, Clock::time_point deadline);
  Channel& channel(RankId rank) { return *channels_[static_cast<std::size_t>(rank.value())]; }

  WorldState& world_;
  RankId here_;
  Duties duties_;
  std::vector<Channel*> channels_;
  std::vector<Serving> serving_;  // by asker
  Index open_count_ = 0;
  std::uint64_t requests_seen_ = 0;
  std::vector<std::span<std::byte>> exposed_;  // by window id
  std::uint64_t asked_ = 0;
  bool is_broken_ = false;
};

}  // namespace reshard::fabric
