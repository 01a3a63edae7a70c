// What a move takes on a described cluster: bytes and seconds on every link, and the least that any move could need.
//
// Model (full-duplex alpha-beta, see topology.h): each message takes alpha + bytes / rate on each link of its way,
// links work side by side, and each direction of a link does one thing after another. So a move lasts as long as its
// busiest link direction:
//
//   seconds = max over link directions of (alpha * messages + bytes / rate)
//
// where a rank's own link is its lowest one. That is a lower bound of every schedule of the same messages, and close to
// what good ones reach; schedules that wait cost more, see Rounds and multicast.h.
//
// Beside it stands what must cross a link whatever is sent: elements that some rank behind it wants and none holds,
// once each (a copy inside may serve the others). Its time is a bound of every plan, forwarding included.
//
// Loads are added up, message by message, so the memory is that of the links, not of pairs of ranks.
#pragma once

#include <vector>

#include "reshard/plan.h"
#include "reshard/rounds.h"
#include "reshard/topology.h"

namespace reshard {

// One direction of a link.
struct LinkLoad {
  Index bytes = 0;
  Index messages = 0;
  Index must = 0;  // bytes that no plan can keep off it
  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

struct LinkUse {
  TopologyNode node;
  bool inwards = false;  // into the node, or out of it
  LinkLoad load;
  double seconds = 0;
  double bound = 0;  // seconds that `must` takes, in one message
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

struct Prediction {
  std::vector<LinkUse>
      links;  // that carry anything: the slowest first, then by level from the top, number, out before in
  double seconds = 0;
  double bound = 0;
};

// Confined. The topology must outlive it.
class LinkTraffic {
 public:
  explicit LinkTraffic(const Topology& topology);

  const Topology& topology() const { return topology_; }
  // Nothing for a rank to itself.
  void add_message(RankId from, RankId to, Index bytes, Index times = 1);
  // All messages of a plan, one per transfer, `times` over; and what must cross. Cost: O(transfers * levels).
  // Throws Error(invalid_argument) for ranks that the topology lacks, Error(unsupported) for pending reductions.
  void add(const Plan& plan, Index times = 1);
  // Only what must cross.
  void add_bound(const Plan& plan, Index times = 1);

  const LinkLoad& out_of(TopologyNode node) const { return at(out_, node); }
  const LinkLoad& into(TopologyNode node) const { return at(in_, node); }
  // Of the busiest direction so far.
  double seconds() const;
  Prediction prediction() const;

 private:
  using Loads = std::vector<std::vector<LinkLoad>>;  // per level, per node
  static const LinkLoad& at(const Loads& loads, TopologyNode node) {
    return loads[static_cast<std::size_t>(node.level)][static_cast<std::size_t>(node.number)];
  }
  LinkLoad& out(int level, RankId rank);
  LinkLoad& in(int level, RankId rank);

  const Topology& topology_;
  Loads out_;
  Loads in_;
};

Prediction predict(const Plan& plan, const Topology& topology);

// Seconds when each round begins after the one before it has ended: the sum of their busiest links. Exchanges name
// messages by their place in `messages`; those that stay at their place are not counted.
double seconds_in_rounds(const Rounds<RankId>& rounds, const Topology& topology);

}  // namespace reshard
