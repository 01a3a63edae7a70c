// What the ranks of a world on one host share beside their windows: a barrier, the offers of collective calls, and the
// fate of each rank. Lies in memory that all ranks see, be it at different addresses: it holds no pointer.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fabric/host/doorbell.h"
#include "fabric/host/gate.h"
#include "fabric/offer_text.h"
#include "reshard/ranks.h"

namespace reshard::fabric {

enum class Collective : std::uint32_t {
  none,
  create_window,
  expose_shared,
  expose_in_place,
  create_signal,
  destroy_window,
  destroy_signal
};

// What one rank brings to a collective call, for the others to compare and use. Plain data: the barrier orders it.
struct Offer {
  std::uint64_t sequence = 0;  // counts the collective calls of the rank
  Collective call = Collective::none;
  std::int32_t id = -1;
  Index size = 0;           // bytes of a window, slots of a signal
  std::uint64_t place = 0;  // of this rank's part; see WindowStore::find
  bool is_private = false;  // peers reach it by PrivateMemory
  OfferText text;
};

// How a rank ended. Written once: by the rank itself, or by whoever first saw it die.
struct Fate {
  static constexpr std::size_t kMessageShown = 2048;

  std::atomic<bool> is_taken{false};  // by the one who writes it
  std::atomic<bool> known{false};
  RankOutcome::End end = RankOutcome::End::returned;
  Code code = Code::internal;
  int signal = 0;
  int exit_code = 0;
  std::array<char, kMessageShown> message{};
};

// One line each for what other ranks touch at different times.
struct alignas(64) RankState {
  Doorbell bell;                                       // this rank sleeps here for its signals
  alignas(64) std::atomic<std::uint64_t> arrivals{0};  // barriers this rank has entered
  alignas(64) Gate accumulating;                       // into windows of this rank
  Index name = 0;                                      // what errors call this rank
  std::atomic<pid_t> process{0};  // where ranks are processes: set before the first collective call
  alignas(64) std::atomic<std::uint64_t> requests{0};  // for this rank to serve, counted by those who ask
  std::array<Offer, 2> offers;                         // collective call n uses n % 2
  Fate fate;
};

class alignas(64) WorldState {
 public:
  // Bytes and place of the state of a world of `ranks`; `memory` is zeroed and 64-byte aligned.
  static std::size_t bytes_for(Index ranks);
  static WorldState* construct(std::byte* memory, Index ranks);
  // Where the ranks are part of a larger world, and errors must name them as that does.
  static WorldState* construct(std::byte* memory, std::span<const RankId> names);
  WorldState(const WorldState&) = delete;
  WorldState& operator=(const WorldState&) = delete;

  Index ranks() const { return ranks_; }
  RankState& rank(RankId rank) { return states()[rank.value()]; }
  const RankState& rank(RankId rank) const { return states()[rank.value()]; }
  Index name(RankId rank) const { return this->rank(rank).name; }
  // Checks before the first yield: none when ranks must share cores.
  int spins() const { return spins_; }

  // The first rank that failed, or a negative number.
  Index lost() const { return lost_.load(std::memory_order_seq_cst); }  // pairs with the exchange in mark_lost()
  // "rank 3 (killed by signal 9)": what is known about lost().
  std::string describe_lost() const;
  // Records how a rank ended (the first record stands) and, unless it returned, ends all waits.
  void record(RankId rank, const RankOutcome& outcome);
  // What was recorded; nothing if the rank has not ended.
  std::optional<RankOutcome> outcome(RankId rank) const;

  // Enters the barrier as its `epoch`-th (from 1). Throws Error(timeout) that names who is missing, Error(peer_lost).
  void barrier(RankId rank, std::uint64_t epoch, const Duties& duties, Clock::time_point deadline);

  // Wakes a rank wherever it waits, to serve.
  void call(RankId rank);
  // Says that `rank` asks for nothing more and, if it shall stay, serves until no rank does, one is lost, or the
  // deadline has passed.
  void leave(RankId rank, bool shall_stay, const Duties& duties, Clock::time_point deadline);

 private:
  explicit WorldState(Index ranks);
  RankState* states() { return reinterpret_cast<RankState*>(this + 1); }
  const RankState* states() const { return reinterpret_cast<const RankState*>(this + 1); }
  [[noreturn]] void barrier_failed(RankId rank, std::uint64_t epoch) const;
  void mark_lost(RankId rank);

  const Index ranks_;
  const int spins_;
  std::atomic<Index> lost_{-1};
  std::atomic<Index> left_{0};
  alignas(64) std::atomic<std::uint64_t> arrived_{0};   // arrivals of all ranks at all barriers
  alignas(64) std::atomic<std::uint64_t> released_{0};  // barriers that are complete
  Doorbell barrier_bell_;
};

}  // namespace reshard::fabric
