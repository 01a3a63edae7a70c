#include "reshard/thread_fabric.h"

#include <exception>
#include <memory>
#include <new>
#include <thread>

#include "base/fail.h"
#include "fabric/host/host_endpoint.h"
#include "fabric/host/outcome.h"
#include "fabric/thread/heap_store.h"

namespace reshard {
namespace {

using fabric::HeapStore;
using fabric::HostEndpoint;
using fabric::WorldState;

struct AlignedDelete {
  void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(alignof(WorldState))); }
};

struct ThreadWorld {
  explicit ThreadWorld(Index ranks, const RunOptions& options)
      : memory(static_cast<std::byte*>(
            ::operator new(WorldState::bytes_for(ranks), std::align_val_t(alignof(WorldState))))),
        state(*WorldState::construct(memory.get(), ranks)),
        thrown(static_cast<std::size_t>(ranks)) {
    for (Index r = 0; r < ranks; ++r) {
      stores.push_back(std::make_unique<HeapStore>(options.kept_memory));
      endpoints.push_back(std::make_unique<HostEndpoint>(
          fabric::HostMeans{.world = state, .rank = RankId(r), .store = *stores.back(), .copy = options.copy}));
    }
  }

  std::unique_ptr<std::byte, AlignedDelete> memory;
  WorldState& state;
  std::vector<std::unique_ptr<HeapStore>> stores;
  std::vector<std::unique_ptr<HostEndpoint>> endpoints;
  std::vector<std::exception_ptr> thrown;
};

void run_rank(ThreadWorld& world, Index rank, const RankBody& body) {
  try {
    body(*world.endpoints[static_cast<std::size_t>(rank)]);
    world.state.record(RankId(rank), {});
  } catch (...) {
    world.thrown[static_cast<std::size_t>(rank)] = std::current_exception();
    world.state.record(RankId(rank), fabric::outcome_of_exception(RankId(rank)));
  }
}

void start_and_join(ThreadWorld& world, const RankBody& body) {
  std::vector<std::jthread> threads;  // joins what was started, even if a thread cannot be had
  for (Index r = 0; r < world.state.ranks(); ++r) {
    try {
      threads.emplace_back([&world, &body, r] { run_rank(world, r, body); });
    } catch (const std::exception& error) {
      RankOutcome refused{.end = RankOutcome::End::threw, .code = Code::io};
      refused.message = fmt::format("cannot start rank {} of {} as a thread: {}", r, world.state.ranks(), error.what());
      world.thrown[static_cast<std::size_t>(r)] = std::make_exception_ptr(Error(Code::io, refused.message));
      world.state.record(RankId(r), refused);
      return;
    }
  }
}

std::vector<RankOutcome> run(ThreadWorld& world, const RankBody& body) {
  start_and_join(world, body);
  std::vector<RankOutcome> outcomes;
  for (Index r = 0; r < world.state.ranks(); ++r) {
    RankOutcome never_started{.end = RankOutcome::End::abandoned, .code = Code::peer_lost};
    never_started.message = fmt::format("rank {} was not started", r);
    outcomes.push_back(world.state.outcome(RankId(r)).value_or(never_started));
  }
  return outcomes;
}

void check_ranks(Index ranks) {
  if (ranks < 1) fail(Code::invalid_argument, "a world of {} ranks: at least 1 is needed", ranks);
}

}  // namespace

void run_threads(Index ranks, const RankBody& body, const RunOptions& options) {
  check_ranks(ranks);
  ThreadWorld world(ranks, options);
  const auto failed = first_failure(run(world, body));
  if (failed) std::rethrow_exception(world.thrown[static_cast<std::size_t>(failed->value())]);
}

std::vector<RankOutcome> try_threads(Index ranks, const RankBody& body, const RunOptions& options) {
  check_ranks(ranks);
  ThreadWorld world(ranks, options);
  return run(world, body);
}

}  // namespace reshard
