// A topology: which ranks share a host, which hosts a rack or a site, and what a message costs on the way.
//
// It is a tree. Level 0 are the ranks; a node of every further level holds nodes of the level below. Names and number
// of levels are free ("host", "rack", "site"). Every node has one link that joins it to the other nodes of its group,
// full duplex: what goes out and what comes in do not slow each other down. The nodes of the last level meet in one
// switch. A message from rank a to rank b goes up from a to the lowest group that has both, and down to b; on every
// link of its way it costs
//
//   alpha + bytes / rate        alpha in seconds, rate in bytes per second
//
// as in the usual full-duplex alpha-beta model (beta = 1 / rate). The switches inside a group cost nothing.
//
// Text, the same as of a file (topology_file.h):
//
//   ranks: 64
//   levels:
//     rank: {alpha: 2 us, rate: 450 GB/s}
//     host: {holds: 8, alpha: 5 us, rate: 50 GB/s}                          # eight ranks each
//     site: {holds: {west: 0-3, east: 4-7}, alpha: 5 ms, rate: 2 GB/s}     # hosts 0 to 3, hosts 4 to 7
//   links:
//     host 3: {rate: 25 GB/s}                                               # unlike its level
//
// Thread rule: immutable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"

namespace reshard {

struct LinkCost {
  double alpha = 0;  // seconds per message
  double rate = 0;   // bytes per second, each way
  double seconds(Index bytes, Index messages = 1) const {
    return alpha * static_cast<double>(messages) + static_cast<double>(bytes) / rate;
  }
  friend bool operator==(const LinkCost&, const LinkCost&) = default;
};

// Nodes [first, first + count) of the level below.
struct NodeRange {
  Index first = 0;
  Index count = 1;
  friend bool operator==(const NodeRange&, const NodeRange&) = default;
};

struct NamedNode {
  std::string name = {};  // empty: its number
  std::vector<NodeRange> members = {};
  friend bool operator==(const NamedNode&, const NamedNode&) = default;
};

// `where` ("file:7") begins the errors about an entry; it is no part of the topology.
struct TopologyLevel {
  std::string name = {};
  LinkCost link = {};
  // Which nodes of the level below a node holds: so many each, in order, or as listed. Neither for level 0.
  Index holds = 0;
  std::vector<NamedNode> nodes = {};
  std::string where = {};
};

// A node's link that is unlike the others of its level.
struct LinkOverride {
  std::string node = {};  // "host 3", "site east"
  std::optional<double> alpha = {};
  std::optional<double> rate = {};
  std::string where = {};
};

struct TopologySpec {
  Index ranks = 0;
  std::vector<TopologyLevel> levels = {};  // [0] = the ranks
  std::vector<LinkOverride> links = {};
};

struct TopologyNode {
  int level = 0;
  Index number = 0;
  friend auto operator<=>(const TopologyNode&, const TopologyNode&) = default;
};

class Topology {
 public:
  // Checks everything once: throws Error(invalid_argument) that names level, node, value and the way out.
  // Cost and memory: O(ranks * levels); 2^22 ranks at most.
  explicit Topology(TopologySpec spec);

  Index ranks() const { return ranks_; }
  int levels() const { return static_cast<int>(levels_.size()); }
  const std::string& level_name(int level) const { return at(level).name; }
  Index nodes(int level) const { return static_cast<Index>(at(level).links.size()); }
  // Precondition: the rank is in the topology, see check().
  Index node_of(int level, RankId rank) const { return at(level).of_rank[static_cast<std::size_t>(rank.value())]; }
  // "host 3", "site east".
  std::string node_name(TopologyNode node) const;
  // Nothing for a name that no node has.
  std::optional<TopologyNode> find(std::string_view name) const;
  const LinkCost& link(TopologyNode node) const { return at(node.level).links[static_cast<std::size_t>(node.number)]; }

  // The lowest level at which both are in one node: 0 for a rank and itself, levels() when only the last switch has
  // both. A message between them takes the links of both ends at all levels below.
  int meeting_level(RankId a, RankId b) const;
  // Links that a message goes out of and into, from `a` to `b`; none from a rank to itself.
  struct Path {
    std::vector<TopologyNode> out;  // upwards from a
    std::vector<TopologyNode> in;   // downwards to b
    friend bool operator==(const Path&, const Path&) = default;
  };
  Path path(RankId a, RankId b) const;
  // Number of the rank when the tree is walked node by node: the ranks of every node are consecutive.
  Index place_of(RankId rank) const { return place_[static_cast<std::size_t>(rank.value())]; }

  // n if ranks [k n, (k+1) n) are node k of the level, for all k; else 0. What PlanOptions ask for.
  Index regular(int level) const;
  bool contains(RankId rank) const { return rank >= RankId(0) && rank < RankId(ranks_); }
  // Throws Error(invalid_argument) unless ranks [0, end) are in the topology; `whose` needs them.
  void check(RankId end, std::string_view whose) const;

  std::string text() const;
  friend bool operator==(const Topology& a, const Topology& b);

 private:
  struct Level {
    std::string name;
    LinkCost usual;
    std::vector<LinkCost> links;     // per node
    std::vector<std::string> names;  // per node; empty = numbers
    std::vector<Index> parent;       // node of the next level, per node; empty at the last
    std::vector<Index> of_rank;      // per rank
    bool operator==(const Level&) const = default;
  };
  const Level& at(int level) const { return levels_[static_cast<std::size_t>(level)]; }
  void add_level(const TopologyLevel& level);
  void number_places();
  void override_link(const LinkOverride& link);
  std::string holds_text(int level) const;

  Index ranks_ = 0;
  std::vector<Level> levels_;
  std::vector<Index> place_;
};

}  // namespace reshard
