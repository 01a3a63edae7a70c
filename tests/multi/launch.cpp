#include "launch.h"

#include <algorithm>

#include "kernel/copy.h"
#include "reshard/error.h"

namespace reshard::multi {

void Fabric::run(Index ranks, const RankBody& body, const RunOptions& options) const {
  const auto outcomes = try_run(ranks, body, options);
  const auto failed = first_failure(outcomes);
  if (!failed) return;
  const RankOutcome& failure = outcomes[static_cast<std::size_t>(failed->value())];
  throw Error(failure.code.value_or(Code::internal), failure.message);
}

std::vector<const Fabric*> fabrics_where(const std::function<bool(const Traits&)>& suits) {
  std::vector<const Fabric*> chosen;
  std::ranges::copy_if(fabrics(), std::back_inserter(chosen), [&](const Fabric* f) { return suits(f->traits()); });
  return chosen;
}

void run_worlds(const Fabric& fabric, Index ranks, const std::function<void(World&)>& body, WorldOptions options) {
  fabric.run(ranks,
             [&](Endpoint& endpoint) {
               World world(endpoint, options);
               body(world);
             },
             {.copy = copy_strided});
}

}  // namespace reshard::multi
