// The way of one piece, or one part of it, from its holders through all its receivers.
#pragma once

#include <span>
#include <vector>

#include "reshard/multicast.h"
#include "reshard/topology.h"

namespace reshard {

struct RouteEdge {
  RankId from;
  RankId to;
  Index after = -1;  // the edge that ends at `from`; -1 for a holder
  Index step = 0;    // edges of a lesser step go first
};

// Remembers what it has laid on every rank and link, and takes the least loaded of equally near holders. Confined; the
// topology must outlive it.
class HopRouter {
 public:
  explicit HopRouter(const Topology& topology);

  // `receivers` by ascending place, none of them a holder; the scheme is not star. `turn` moves where nodes are
  // entered, so that the parts of a piece enter at different ranks.
  std::vector<RouteEdge> route(Scheme scheme, std::span<const RankId> holders, std::span<const RankId> receivers,
                               Index turn, Index bytes);

 private:
  using Ranks = std::span<const RankId>;
  // A rank that has the data, since which edge, and its first step that is free.
  struct Source {
    RankId rank;
    Index edge = -1;
    Index free = 0;
  };

  std::vector<Ranks> groups(int level, Ranks receivers, Index turn) const;
  std::vector<Source> serve(int level, std::vector<Source> sources, Ranks receivers, Index turn);
  Source walk(int level, Ranks receivers, Source last, Index turn);
  void grow(int level, std::vector<Source> sources, const std::vector<Ranks>& needy, Index turn);
  RankId entry(int level, Ranks receivers, Index turn) const;
  Source least_loaded(int level, const std::vector<Source>& sources, Index turn) const;
  double load(int level, RankId rank) const;
  Source add(const Source& from, RankId to);

  const Topology& topology_;
  std::vector<std::vector<double>> out_seconds_;  // per level, per node
  Scheme scheme_ = Scheme::chain;
  Index bytes_ = 0;
  std::vector<RouteEdge> edges_;
};

}  // namespace reshard
