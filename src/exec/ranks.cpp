// Starts the ranks of a world and gives each its World.
#include "kernel/copy.h"
#include "reshard/shm_fabric.h"
#include "reshard/thread_fabric.h"
#include "reshard/world.h"

namespace reshard {
namespace {

RankBody in_world(const std::function<void(World&)>& body, const WorldOptions& options) {
  return [&body, options](Endpoint& endpoint) {
    World world(endpoint, options);
    body(world);
  };
}

}  // namespace

void thread_ranks(Index ranks, const std::function<void(World&)>& body, WorldOptions options) {
  run_threads(ranks, in_world(body, options), {.copy = copy_strided});
}

void process_ranks(Index ranks, const std::function<void(World&)>& body, WorldOptions options) {
  run_processes(ranks, in_world(body, options), {.copy = copy_strided});
}

}  // namespace reshard
