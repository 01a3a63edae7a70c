#include "exec/host_map.h"

#include <algorithm>
#include <utility>

namespace reshard {
namespace {

// A copy by one core, and TCP on a network of 25 Gbit/s. Only their proportion matters, to tell schemes apart.
constexpr LinkCost kMemory{.alpha = 0.3e-6, .rate = 10e9};
constexpr LinkCost kNetwork{.alpha = 10e-6, .rate = 2.5e9};

std::vector<Index> hosts_of(const Endpoint& endpoint) {
  std::vector<Index> hosts;
  for (RankId rank(0); rank < RankId(endpoint.ranks()); ++rank) hosts.push_back(endpoint.host_of(rank));
  return hosts;
}

Topology topology_of(const std::vector<Index>& host_of) {
  TopologyLevel hosts{.name = "host", .link = kNetwork};
  hosts.nodes.resize(static_cast<std::size_t>(*std::ranges::max_element(host_of) + 1));
  for (std::size_t rank = 0; rank < host_of.size(); ++rank)
    hosts.nodes[static_cast<std::size_t>(host_of[rank])].members.push_back({.first = static_cast<Index>(rank)});
  return Topology(
      {.ranks = static_cast<Index>(host_of.size()), .levels = {{.name = "rank", .link = kMemory}, std::move(hosts)}});
}

}  // namespace

HostMap::HostMap(const Endpoint& endpoint, const std::optional<Topology>& given) : topology_(given) {
  std::vector<Index> hosts = hosts_of(endpoint);
  if (!topology_ && std::ranges::max(hosts) > 0) topology_ = topology_of(hosts);
  if (topology_) topology_->check(RankId(endpoint.ranks()), "this world");
  hosts_ = RankHosts(std::move(hosts));
}

PlanOptions HostMap::completed(PlanOptions options) const {
  if (options.ranks_per_host == 0 && options.ranks_per_rack == 0 && topology_ && topology_->levels() > 1)
    options.ranks_per_host = topology_->regular(1);
  return options;
}

}  // namespace reshard
