#include "reshard/shm_fabric.h"

#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "base/fail.h"
#include "fabric/host/host_endpoint.h"
#include "fabric/host/outcome.h"
#include "fabric/shm/arena.h"
#include "fabric/shm/children.h"
#include "fabric/shm/front.h"
#include "fabric/shm/slice_store.h"

namespace reshard {
namespace {

using fabric::Arena;
using fabric::Children;
using fabric::Front;
using fabric::HostEndpoint;
using fabric::SliceStore;
using fabric::WorldState;

// Before a fork, so that the child does not inherit text that would then appear twice; and before a child's _exit, so
// that its own text is not lost.
void flush_output() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

// What a child does. Ends the process without exit handlers: those are the parent's.
[[noreturn]] void run_rank(Arena& arena, WorldState& world, RankId rank, const RankBody& body,
                           const RunOptions& options) {
  RankOutcome outcome;
  try {
    world.rank(rank).process.store(::getpid(), std::memory_order_relaxed);  // read after a collective call
    SliceStore store(arena, rank, options.kept_memory);
    const bool by_kernel = options.kernel_copies && fabric::allow_kernel_copies();
    const auto private_memory = fabric::private_memory(by_kernel, world, rank, arena, nullptr, options.copy);
    HostEndpoint endpoint({world, rank, store, options.copy, private_memory.get()});
    body(endpoint);
    endpoint.leave(Clock::time_point::max());
  } catch (...) {
    outcome = fabric::outcome_of_exception(rank);
  }
  flush_output();
  world.record(rank, outcome);
  ::_exit(0);
}

}  // namespace

std::vector<RankOutcome> try_processes(Index ranks, const RankBody& body, const RunOptions& options) {
  if (ranks < 1) fail(Code::invalid_argument, "a world of {} ranks: at least 1 is needed", ranks);
  if (options.window_space < 1) {
    fail(Code::invalid_argument, "window_space of {} bytes: windows need some", options.window_space);
  }
  Arena arena(ranks, Front::bytes(ranks), options.window_space);
  for (Index r = 0; r < ranks; ++r) Front::construct(arena.file(RankId(r)).base(), ranks, 0);
  WorldState& world = *WorldState::construct(Front::of(arena.file(RankId(0)).base()).world(), ranks);
  Children children(world);
  flush_output();
  for (Index r = 0; r < ranks; ++r) {
    children.start([&] { run_rank(arena, world, RankId(r), body, options); });
  }
  children.wait_all(options.grace);
  std::vector<RankOutcome> outcomes;
  for (Index r = 0; r < ranks; ++r) outcomes.push_back(world.outcome(RankId(r)).value());
  return outcomes;
}

void run_processes(Index ranks, const RankBody& body, const RunOptions& options) {
  const auto outcomes = try_processes(ranks, body, options);
  const auto failed = first_failure(outcomes);
  if (!failed) return;
  const RankOutcome& failure = outcomes[static_cast<std::size_t>(failed->value())];
  throw Error(failure.code.value_or(Code::internal), failure.message);
}

}  // namespace reshard
