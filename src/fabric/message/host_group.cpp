#include "fabric/message/host_group.h"

#include <algorithm>

#include "base/fail.h"
#include "fabric/host_identity.h"

namespace reshard::fabric {
namespace {

std::vector<RankId> ranks_on(const std::vector<Index>& hosts, Index host) {
  std::vector<RankId> ranks;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    if (hosts[r] == host) ranks.push_back(RankId(static_cast<Index>(r)));
  return ranks;
}

// An exchange of the whole world, seen by the ranks of one host.
Exchange among(const std::vector<RankId>& ranks, const Exchange& exchange) {
  return [&ranks, &exchange](std::string_view mine, Clock::time_point deadline) {
    const auto all = exchange(mine, deadline);
    std::vector<std::string> chosen;
    for (RankId rank : ranks) chosen.push_back(all[static_cast<std::size_t>(rank.value())]);
    return chosen;
  };
}

}  // namespace

// Every rank makes the same number of exchanges: those that are alone on their host too.
HostGroup join_hosts(const HostGroupOptions& options, const Exchange& exchange, Clock::time_point deadline) {
  const auto here = static_cast<std::size_t>(options.rank.value());
  std::vector<std::string> identities = exchange(host_identity(options.identity), deadline);
  HostGroup group{.hosts = number_hosts(identities)};
  const std::vector<RankId> ranks = ranks_on(group.hosts, group.hosts[here]);
  const auto number = static_cast<std::size_t>(std::ranges::find(ranks, options.rank) - ranks.begin());
  int exchanges = 0;
  const Exchange counted = [&](std::string_view mine, Clock::time_point until) {
    ++exchanges;
    return exchange(mine, until);
  };
  std::string failure;
  if (ranks.size() > 1) {
    try {
      group.host = JoinedHost::join({.ranks = ranks, .here = number}, among(ranks, counted), options.copy,
                                    options.window_space, deadline);
    } catch (const Error& error) {
      if (error.code() != Code::io) throw;
      failure = error.what();
    }
  }
  constexpr int kExchangesOfJoining = 2;
  while (exchanges < kExchangesOfJoining) counted({}, deadline);
  const auto failures = exchange(failure, deadline);
  for (std::size_t r = 0; r < failures.size(); ++r)
    if (!failures[r].empty()) identities[r] += fmt::format(" rank {}", r);
  group.hosts = number_hosts(identities);
  const bool has_others = *std::ranges::max_element(group.hosts) > 0;
  if (group.host && has_others) {
    group.neighbours = std::make_unique<Neighbours>(*group.host, ranks, options.rank,
                                                    static_cast<Index>(group.hosts.size()), deadline);
  }
  return group;
}

}  // namespace reshard::fabric
