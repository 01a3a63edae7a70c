// Hops against the clock, and the schemes beside each other.
#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>

#include "reshard/multicast.h"

namespace reshard {
namespace {

// Runs hops by time. A hop that is ready takes all links of its way at once, or queues at the one that is free last; a
// link that becomes free is offered to those that queue there, in the order in which they came.
class Timeline {
 public:
  Timeline(const Multicast& multicast, const Topology& topology)
      : multicast_(multicast), topology_(topology), first_(multicast.hops().size() + 1, 0) {
    for (int level = 0; level < topology.levels(); ++level) {
      level_begin_.push_back(links_.size());
      links_.resize(links_.size() + 2 * static_cast<std::size_t>(topology.nodes(level)));
    }
    find_followers();
  }

  double run() {
    const auto hops = multicast_.hops();
    for (std::size_t k = 0; k < hops.size(); ++k)
      if (hops[k].after < 0) events_.push({0, k, false});
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.frees_link) {
        offer(event.number, event.time);
      } else {
        start(event.number, event.time);
      }
    }
    return last_;
  }

 private:
  struct Link {
    double free = 0;                // since when
    bool announced = false;         // an event will come
    std::deque<std::size_t> queue;  // hops
  };
  struct Event {
    double time;
    std::size_t number;  // of a hop that is ready, or a link that is free
    bool frees_link;
    bool operator>(const Event& other) const {
      return std::tie(time, frees_link, number) > std::tie(other.time, other.frees_link, other.number);
    }
  };

  // Hops that wait for hop k are followers_[first_[k], first_[k + 1]).
  void find_followers() {
    const auto hops = multicast_.hops();
    for (const Hop& hop : hops)
      if (hop.after >= 0) ++first_[static_cast<std::size_t>(hop.after) + 1];
    for (std::size_t k = 0; k < hops.size(); ++k) first_[k + 1] += first_[k];
    followers_.resize(first_.back());
    std::vector<std::size_t> next = first_;
    for (std::size_t k = 0; k < hops.size(); ++k)
      if (hops[k].after >= 0) followers_[next[static_cast<std::size_t>(hops[k].after)]++] = k;
  }

  std::size_t link(int level, RankId rank, bool inwards) const {
    return level_begin_[static_cast<std::size_t>(level)] +
           2 * static_cast<std::size_t>(topology_.node_of(level, rank)) + (inwards ? 1 : 0);
  }

  // Begins the hop, or queues it.
  void start(std::size_t k, double now) {
    const Hop& hop = multicast_.hops()[k];
    const int meeting = topology_.meeting_level(hop.from, hop.to);
    std::size_t latest = links_.size();
    for (int level = 0; level < meeting; ++level)
      for (const std::size_t l : {link(level, hop.from, false), link(level, hop.to, true)})
        if (links_[l].free > now && (latest == links_.size() || links_[l].free > links_[latest].free)) latest = l;
    if (latest < links_.size()) {
      links_[latest].queue.push_back(k);
      announce(latest);
      return;
    }
    const Index bytes = multicast_.bytes(hop);
    double end = now;
    for (int level = 0; level < meeting; ++level) {
      end = std::max(end, take(link(level, hop.from, false), {level, topology_.node_of(level, hop.from)}, bytes, now));
      end = std::max(end, take(link(level, hop.to, true), {level, topology_.node_of(level, hop.to)}, bytes, now));
    }
    last_ = std::max(last_, end);
    for (std::size_t f = first_[k]; f < first_[k + 1]; ++f) events_.push({end, followers_[f], false});
  }

  double take(std::size_t l, TopologyNode node, Index bytes, double now) {
    links_[l].free = now + topology_.link(node).seconds(bytes);
    if (!links_[l].queue.empty()) announce(l);
    return links_[l].free;
  }

  void announce(std::size_t l) {
    if (links_[l].announced) return;
    links_[l].announced = true;
    events_.push({links_[l].free, l, true});
  }

  void offer(std::size_t l, double now) {
    Link& link = links_[l];
    link.announced = false;
    while (!link.queue.empty() && link.free <= now) {
      const std::size_t k = link.queue.front();
      link.queue.pop_front();
      start(k, now);
    }
    if (!link.queue.empty()) announce(l);
  }

  const Multicast& multicast_;
  const Topology& topology_;
  std::vector<std::size_t> first_, followers_;
  std::vector<std::size_t> level_begin_;
  std::vector<Link> links_;  // out of and into each node, by level
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  double last_ = 0;
};

}  // namespace

double seconds_of(const Multicast& multicast, const Topology& topology) { return Timeline(multicast, topology).run(); }

void add_hops(LinkTraffic& traffic, const Multicast& multicast, Index times) {
  for (const Hop& hop : multicast.hops()) traffic.add_message(hop.from, hop.to, multicast.bytes(hop), times);
}

std::vector<SchemeCost> scheme_costs(const Plan& plan, const Topology& topology, const MulticastOptions& options) {
  std::vector<SchemeCost> costs;
  for (const Scheme scheme : all_schemes()) {
    const Multicast hops = multicast(plan, topology, scheme, options);
    LinkTraffic traffic(topology);
    add_hops(traffic, hops);
    costs.push_back({.scheme = scheme, .seconds = seconds_of(hops, topology), .link_seconds = traffic.seconds()});
    costs.back().hops = std::ranges::count_if(hops.hops(), [](const Hop& hop) { return !hop.is_local(); });
  }
  return costs;
}

Scheme fastest(std::span<const SchemeCost> costs) {
  return std::ranges::min_element(costs, {}, &SchemeCost::seconds)->scheme;
}

}  // namespace reshard
