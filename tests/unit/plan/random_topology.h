// Topologies with nodes of uneven sizes, in any order of ranks, and links of different speeds.
#pragma once

#include "property/random.h"
#include "reshard/topology.h"

namespace reshard {

// One to three levels above the ranks.
inline Topology random_topology(Random& random, Index ranks) {
  TopologySpec spec{.ranks = ranks};
  spec.levels.push_back({.name = "rank", .link = {1e-6, 1e9}});
  Index below = ranks;
  for (const char* name : {"host", "rack", "site"}) {
    TopologyLevel level{.name = name, .link = {1e-6 * static_cast<double>(random.between(0, 9)), 1e8}};
    if (random.one_in(2)) {
      level.holds = random.between(1, 6);
      below = (below + level.holds - 1) / level.holds;
    } else {
      const Index nodes = random.between(1, std::min<Index>(below, 6));
      level.nodes.resize(static_cast<std::size_t>(nodes));
      for (Index k = 0; k < below; ++k)
        level.nodes[static_cast<std::size_t>(k < nodes ? k : random.below(nodes))].members.push_back({k, 1});
      below = nodes;
    }
    spec.levels.push_back(level);
    if (random.one_in(3)) break;
  }
  return Topology(spec);
}

}  // namespace reshard
