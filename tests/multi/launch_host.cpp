// Ranks as threads, and as forked children.
#include "launch.h"
#include "reshard/shm_fabric.h"
#include "reshard/thread_fabric.h"

namespace reshard::multi {
namespace {

class ThreadLaunch final : public Fabric {
 public:
  std::string name() const override { return "thread"; }
  Traits traits() const override { return {.capabilities = {.load_store = true}, .is_threads = true}; }
  std::vector<RankOutcome> try_run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    return try_threads(ranks, body, options);
  }
  void run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    run_threads(ranks, body, options);
  }
};

class ShmLaunch final : public Fabric {
 public:
  std::string name() const override { return "shm"; }
  Traits traits() const override { return {.capabilities = {.load_store = true}, .may_die = true}; }
  std::vector<RankOutcome> try_run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    return try_processes(ranks, body, options);
  }
  void run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    run_processes(ranks, body, options);
  }
};

}  // namespace

const std::vector<const Fabric*>& fabrics() {
  static const ThreadLaunch threads;
  static const ShmLaunch processes;
  static const std::vector<const Fabric*> all{&threads, &processes};
  return all;
}

}  // namespace reshard::multi
