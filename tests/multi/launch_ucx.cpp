// Ranks that reach each other over UCX alone, each as if on a host of its own: over TCP, through this host's loopback.
#include <algorithm>

#include "forked_ranks.h"
#include "launch.h"
#include "reshard/ucx_fabric.h"

namespace reshard::multi {
namespace {

// A rank that has failed takes up to three seconds to leave, so those who fail at the same time do not end at the same
// time.
constexpr std::chrono::milliseconds kToLeave = std::chrono::seconds(4);

class UcxLaunch final : public Fabric {
 public:
  std::string name() const override { return "ucx"; }
  Traits traits() const override {
    return {.capabilities = {.needs_service = true}, .is_one_host = false, .may_die = true, .tells_causes = false};
  }
  // Connections between more take longer to make than all else, and add nothing.
  bool has_ranks(Index ranks) const override { return ranks <= 4; }
  std::vector<RankOutcome> try_run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    const auto main = [&](RankId rank, const Exchange& exchange) {
      UcxWorld world = join_ucx({.rank = rank,
                                 .ranks = ranks,
                                 .exchange = exchange,
                                 .copy = options.copy,
                                 .host = "rank " + std::to_string(rank.value()),
                                 .window_space = options.window_space,
                                 .timeout = std::chrono::seconds(60)});
      body(world.endpoint());
    };
    return try_forked(ranks, main, std::max(options.grace, kToLeave));
  }
};

}  // namespace

const std::vector<const Fabric*>& fabrics() {
  static const UcxLaunch ucx;
  static const std::vector<const Fabric*> all{&ucx};
  return all;
}

}  // namespace reshard::multi
