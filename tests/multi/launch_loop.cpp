// Ranks as threads that have nothing but messages between them. "late": payloads land after headers behind them.
#include "fabric/message/loop_wire.h"
#include "launch.h"

namespace reshard::multi {
namespace {

class LoopLaunch final : public Fabric {
 public:
  LoopLaunch(std::string name, std::uint64_t seed) : name_(std::move(name)), seed_(seed) {}
  std::string name() const override { return name_; }
  Traits traits() const override {
    return {.capabilities = {.needs_service = true}, .is_one_host = false, .is_threads = true};
  }
  std::vector<RankOutcome> try_run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    return fabric::try_loop(ranks, body, options, {.seed = seed_});
  }

 private:
  std::string name_;
  std::uint64_t seed_;
};

}  // namespace

const std::vector<const Fabric*>& fabrics() {
  static const LoopLaunch prompt("loop", 0);
  static const LoopLaunch late("late", 20261);
  static const std::vector<const Fabric*> all{&prompt, &late};
  return all;
}

}  // namespace reshard::multi
