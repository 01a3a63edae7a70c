#include "reshard/relabel.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/assignment.h"
#include "plan/planner.h"

namespace reshard {
namespace {

constexpr Index kMostRanks = 4096;

std::vector<RankId> ranks_of(const Mesh& mesh) {
  std::vector<RankId> ranks;
  for (Index place = 0; place < mesh.size(); ++place) ranks.push_back(mesh.rank_at_ordinal(place));
  return ranks;
}

Index elements_in_both(const Region& held, const Region& wanted) {
  if (!held.held || !wanted.held) return 0;
  Index both = 1;
  for (std::size_t dim = 0; dim < wanted.dims.size() && both > 0; ++dim)
    both *= length_of(intersect(wanted.dims[dim], held.dims[dim]));
  return both;
}

// Elements that the rank of each column holds of what belongs to the place of each row.
Gains kept_elements(const Layout& source, const Layout& target, const std::vector<RankId>& ranks) {
  std::vector<Region> held, wanted;
  for (const RankId rank : ranks) {
    held.push_back(source.region(rank));
    wanted.push_back(target.region(rank));
  }
  Gains kept(static_cast<Index>(ranks.size()));
  for (Index place = 0; place < kept.size(); ++place)
    for (Index rank = 0; rank < kept.size(); ++rank) kept.at(place, rank) = elements_in_both(held[rank], wanted[place]);
  return kept;
}

// The same order of preference, and between equals the one with the most ranks in their place: a kept element weighs
// more than all places together.
Gains with_places(const Gains& kept) {
  Index unit = 0;
  for (Index row = 0; row < kept.size(); ++row)
    for (Index column = 0; column < kept.size(); ++column) unit = std::gcd(unit, kept.at(row, column));
  Gains weighed(kept.size());
  Index greatest = 1;
  for (Index row = 0; row < kept.size(); ++row)
    for (Index column = 0; column < kept.size(); ++column) {
      Index& gain = weighed.at(row, column);
      gain = checked_mul(unit == 0 ? 0 : kept.at(row, column) / unit, kept.size() + 1, "weight of a relabelling");
      gain += row == column ? 1 : 0;
      greatest = std::max(greatest, gain);
    }
  checked_mul(greatest, 2 * (kept.size() + 2), "weight of a relabelling");
  return weighed;
}

Layout on_ranks(const Layout& layout, const std::vector<RankId>& ranks) {
  LayoutSpec spec = layout.spec();
  spec.mesh = Mesh::listed(spec.mesh.name(), spec.mesh.axes(), ranks, spec.mesh.groups());
  return Layout(std::move(spec));
}

}  // namespace

Relabelling relabel(const Layout& source, const Layout& target) {
  const PlanOptions options;
  Planner(source, target, options);  // refuses what cannot be planned
  for (const Layout* side : {&source, &target})
    if (side->has_partial())
      fail(Code::unsupported,
           "{} is partial: its places hold terms, and who holds which is part of the value; reduce first",
           side->text());
  if (target.mesh().size() > kMostRanks)
    fail(Code::unsupported, "{}: relabelling weighs every rank against every place, at most {} ranks", target.text(),
         kMostRanks);
  const std::vector<RankId> ranks = ranks_of(target.mesh());
  const Gains kept = kept_elements(source, target, ranks);
  const std::vector<Index> rank_of = best_assignment(with_places(kept));
  Relabelling result{.target = target, .seats = {}};
  std::vector<RankId> order;
  const Index bytes_each = bytes_of(target.dtype());
  for (Index place = 0; place < kept.size(); ++place) {
    const RankId now = ranks[rank_of[place]];
    order.push_back(now);
    if (now != ranks[place]) result.seats.push_back({ranks[place], now});
    result.kept_before += kept.at(place, place) * bytes_each;
    result.kept += kept.at(place, rank_of[place]) * bytes_each;
  }
  if (!result.seats.empty()) result.target = on_ranks(target, order);
  return result;
}

}  // namespace reshard
