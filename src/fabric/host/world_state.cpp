#include "fabric/host/world_state.h"

#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/fail.h"

namespace reshard::fabric {
namespace {

// About 50 us. Much longer than it takes to wake a rank: where ranks slept before that, each would be late because it
// had to be woken, and for that the next would sleep as well, call after call.
constexpr int kSpinsWithACoreEach = 1200;

int spins_for(Index ranks) { return ranks <= ::sysconf(_SC_NPROCESSORS_ONLN) ? kSpinsWithACoreEach : 0; }

std::string why(const RankOutcome& outcome) {
  switch (outcome.end) {
    case RankOutcome::End::returned: return "it has returned";
    case RankOutcome::End::threw: return fmt::format("it failed: {}", outcome.message);
    case RankOutcome::End::killed: return fmt::format("killed by signal {}", outcome.signal);
    case RankOutcome::End::exited: return fmt::format("exited with code {} inside its body", outcome.exit_code);
    case RankOutcome::End::abandoned: return "it did not end after another rank's failure";
  }
  return "unknown";
}

}  // namespace

std::size_t WorldState::bytes_for(Index ranks) {
  return sizeof(WorldState) + static_cast<std::size_t>(ranks) * sizeof(RankState);
}

WorldState* WorldState::construct(std::byte* memory, Index ranks) {
  auto* world = new (memory) WorldState(ranks);
  for (Index r = 0; r < ranks; ++r) (new (world->states() + r) RankState)->name = r;
  return world;
}

WorldState* WorldState::construct(std::byte* memory, std::span<const RankId> names) {
  WorldState* world = construct(memory, static_cast<Index>(names.size()));
  for (std::size_t r = 0; r < names.size(); ++r) world->states()[r].name = names[r].value();
  return world;
}

WorldState::WorldState(Index ranks) : ranks_(ranks), spins_(spins_for(ranks)) {}

std::string WorldState::describe_lost() const {
  const RankId rank(lost());
  const auto what = outcome(rank);
  return fmt::format("rank {} ({})", name(rank), what ? why(*what) : "unknown");
}

void WorldState::record(RankId rank, const RankOutcome& outcome) {
  Fate& fate = this->rank(rank).fate;
  if (fate.is_taken.exchange(true, std::memory_order_relaxed)) return;
  fate.end = outcome.end;
  fate.code = outcome.code.value_or(Code::internal);
  fate.signal = outcome.signal;
  fate.exit_code = outcome.exit_code;
  const std::size_t shown = std::min(outcome.message.size(), Fate::kMessageShown - 1);
  std::copy_n(outcome.message.data(), shown, fate.message.data());
  fate.message[shown] = '\0';
  fate.known.store(true, std::memory_order_release);  // pairs with the load in outcome()
  if (outcome.end != RankOutcome::End::returned) mark_lost(rank);
}

std::optional<RankOutcome> WorldState::outcome(RankId rank) const {
  const Fate& fate = this->rank(rank).fate;
  if (!fate.known.load(std::memory_order_acquire)) return std::nullopt;  // pairs with the store in record()
  RankOutcome outcome{.end = fate.end,
                      .code = fate.code,
                      .message = fate.message.data(),
                      .signal = fate.signal,
                      .exit_code = fate.exit_code};
  if (outcome.end == RankOutcome::End::returned) outcome.code.reset();
  return outcome;
}

void WorldState::mark_lost(RankId rank) {
  Index nobody = -1;
  lost_.compare_exchange_strong(nobody, rank.value(), std::memory_order_seq_cst);  // pairs with the load in lost()
  for (Index r = 0; r < ranks_; ++r) {
    states()[r].bell.ring();
    states()[r].accumulating.ring();
  }
  barrier_bell_.ring();
}

// Counters only grow, so that no rank can mistake one barrier for the next.
void WorldState::barrier(RankId rank, std::uint64_t epoch, const Duties& duties, Clock::time_point deadline) {
  this->rank(rank).arrivals.store(epoch, std::memory_order_relaxed);  // read only for the error message
  const auto all = static_cast<std::uint64_t>(ranks_) * epoch;
  // The last to arrive acquires what all others did before they arrived, and releases it to them by released_.
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {  // pairs with itself at the other ranks
    released_.store(epoch, std::memory_order_seq_cst);                // pairs with the load in `ready`
    barrier_bell_.ring_sleepers();
    return;
  }
  const auto released = [&] { return released_.load(std::memory_order_seq_cst) >= epoch; };
  const auto ready = [&] { return released() || lost() >= 0; };
  barrier_bell_.wait(ready, deadline, spins_, duties);
  if (!released()) barrier_failed(rank, epoch);
}

void WorldState::call(RankId rank) {
  this->rank(rank).bell.ring_sleepers();
  barrier_bell_.ring_sleepers();
  for (Index r = 0; r < ranks_; ++r) states()[r].accumulating.ring_sleepers();
}

void WorldState::leave(RankId rank, bool shall_stay, const Duties& duties, Clock::time_point deadline) {
  left_.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load below
  for (Index r = 0; r < ranks_; ++r) states()[r].bell.ring_sleepers();
  const auto ready = [&] { return left_.load(std::memory_order_seq_cst) == ranks_ || lost() >= 0; };
  if (shall_stay) this->rank(rank).bell.wait(ready, deadline, spins_, duties);
}

void WorldState::barrier_failed(RankId rank, std::uint64_t epoch) const {
  if (lost() >= 0) fail(Code::peer_lost, "rank {}: barrier cannot complete: lost {}", name(rank), describe_lost());
  std::string missing;
  for (Index r = 0; r < ranks_; ++r) {
    if (states()[r].arrivals.load(std::memory_order_relaxed) >= epoch) continue;  // pairs with the store in barrier()
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", states()[r].name);
  }
  fail(Code::timeout, "rank {}: deadline passed in a barrier of {} ranks; not there: rank {}", name(rank), ranks_,
       missing);
}

}  // namespace reshard::fabric
