#include "exec/stage.h"

#include "reshard/multicast.h"
#include "reshard/multicast_program.h"

namespace reshard {
namespace {

// Nothing where the plan as it is serves best.
std::optional<Multicast> forwarding(const Layout& source, const Layout& target, const PlanOptions& options,
                                    const HostMap& map) {
  if (!map.topology() || source.has_partial() || target.has_partial()) return {};
  const Plan whole = plan(source, target, options);
  if (!has_common_receivers(whole)) return {};
  const Scheme scheme = fastest(scheme_costs(whole, *map.topology()));
  if (scheme == Scheme::star) return {};
  return multicast(whole, *map.topology(), scheme);
}

}  // namespace

Stage make_stage(const Layout& source, const Layout& target, const PlanOptions& options, const HostMap& map,
                 Endpoint& endpoint) {
  const PlanOptions completed = map.completed(options);
  if (const auto hops = forwarding(source, target, completed, map)) {
    const Program program = multicast_program(*hops, endpoint.rank(), endpoint.ranks(), map.hosts());
    return {.executor = Executor(program, endpoint), .staging_bytes = {}, .arrival_slots = program.signals[1].slots};
  }
  const Program program =
      redistribute_program(source, target, endpoint.rank(), endpoint.ranks(), completed, map.hosts());
  return {.executor = Executor(program, endpoint),
          .staging_bytes = program.windows.size() > 2 ? program.windows[2].bytes : std::vector<Index>{}};
}

}  // namespace reshard
