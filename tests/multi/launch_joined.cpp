// Ranks of one host that were started apart and share memory: no common parent watches them.
#include "fabric/shm/joined_host.h"
#include "forked_ranks.h"
#include "launch.h"

namespace reshard::multi {
namespace {

class JoinedLaunch final : public Fabric {
 public:
  std::string name() const override { return "joined"; }
  Traits traits() const override {
    return {.capabilities = {.load_store = true}, .may_die = true, .tells_causes = false};
  }
  std::vector<RankOutcome> try_run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    const auto main = [&](RankId rank, const Exchange& exchange) {
      fabric::HostRank here{.ranks = {}, .here = static_cast<std::size_t>(rank.value())};
      for (Index r = 0; r < ranks; ++r) here.ranks.push_back(RankId(r));
      const auto deadline = Clock::now() + std::chrono::seconds(60);
      const auto host = fabric::JoinedHost::join(here, exchange, options.copy, options.window_space, deadline);
      body(host->endpoint());
    };
    return try_forked(ranks, main, options.grace);
  }
};

}  // namespace

const std::vector<const Fabric*>& fabrics() {
  static const JoinedLaunch joined;
  static const std::vector<const Fabric*> all{&joined};
  return all;
}

}  // namespace reshard::multi
