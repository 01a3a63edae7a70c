// Threads that say they are on hosts of their own, two each and not side by side: worlds then put what crosses hosts,
// and forward it, although nothing but their word keeps them apart.
#include "fabric/wrap/forward_endpoint.h"
#include "launch.h"
#include "reshard/thread_fabric.h"

namespace reshard::multi {
namespace {

class Apart final : public fabric::ForwardEndpoint {
 public:
  using ForwardEndpoint::ForwardEndpoint;
  // 0 1 2 0 1 2 .., with at least two hosts in a world of two.
  Index host_of(RankId rank) const override { return rank.value() % std::max<Index>(2, (ranks() + 1) / 2); }
};

class ApartFabric final : public Fabric {
 public:
  std::string name() const override { return "apart"; }
  Traits traits() const override {
    return {.capabilities = {.load_store = true}, .is_one_host = false, .is_threads = true};
  }
  std::vector<RankOutcome> try_run(Index ranks, const RankBody& body, const RunOptions& options) const override {
    return try_threads(
        ranks,
        [&body](Endpoint& endpoint) {
          Apart apart(endpoint);
          body(apart);
        },
        options);
  }
};

const ApartFabric kApart;

}  // namespace

const std::vector<const Fabric*>& fabrics() {
  static const std::vector<const Fabric*> all{&kApart};
  return all;
}

}  // namespace reshard::multi
