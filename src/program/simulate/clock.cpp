#include "program/simulate/clock.h"

#include <algorithm>

namespace reshard::simulation {
namespace {

// One host: of the order of what two processes see through shared memory.
constexpr LinkCost kHost{1e-6, 10e9};
// What an operation costs its rank before anything else.
constexpr double kIssue = 1e-7;

}  // namespace

VirtualClock::VirtualClock(Index ranks, const std::optional<Topology>& topology)
    : topology_(topology), now_(static_cast<std::size_t>(ranks)), arrived_(static_cast<std::size_t>(ranks)) {}

// The links of the way add their alphas; the slowest says how fast the bytes follow each other.
LinkCost VirtualClock::way(RankId from, RankId to) const {
  if (from == to) return {0, kHost.rate};
  if (!topology_) return kHost;
  const Topology::Path path = topology_->path(from, to);
  LinkCost way = topology_->link(path.out.front());
  const auto add = [&](const LinkCost& link) {
    way.alpha += link.alpha;
    way.rate = std::min(way.rate, link.rate);
  };
  for (std::size_t i = 1; i < path.out.size(); ++i) add(topology_->link(path.out[i]));
  for (const TopologyNode& node : path.in) add(topology_->link(node));
  return way;
}

void VirtualClock::work(RankId rank, Index bytes) { now_[index(rank)] += kIssue + way(rank, rank).seconds(bytes); }

void VirtualClock::get(RankId rank, RankId from, Index bytes) {
  now_[index(rank)] += kIssue + way(from, rank).seconds(bytes);
}

VirtualClock::Interval VirtualClock::put(RankId rank, RankId to, Index bytes) {
  double& now = now_[index(rank)];
  double& arrived = arrived_[index(rank)];
  now += kIssue;
  const double begin = std::max(now, arrived);
  arrived = begin + way(rank, to).seconds(bytes);
  return {begin, arrived};
}

double VirtualClock::notify(RankId rank, RankId to) {
  double& now = now_[index(rank)];
  now += kIssue;
  return now + way(rank, to).alpha;
}

void VirtualClock::wait(RankId rank, double until) {
  double& now = now_[index(rank)];
  now = std::max(now, until) + kIssue;
}

}  // namespace reshard::simulation
