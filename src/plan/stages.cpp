// Where a pending value is reduced: at its target, or at the source first, each rank a part of it.
//
// At the target every rank receives all terms of what it wants. Scattered at the source first, each rank receives all
// terms of its part only, and then the reduced parts go on: with k terms for r replicas of n bytes about (k - 1) n + r
// n instead of r k n.
#include <algorithm>
#include <map>

#include "base/checked.h"
#include "plan/copies.h"
#include "plan/lift.h"
#include "plan/lower_bound.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

struct Cost {
  Index received = 0;  // by all ranks: every plan meets its lower bound
  Index greatest = 0;  // by one rank
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

Cost cost_of(const std::vector<Layout>& layouts) {
  constexpr std::string_view what = "bytes of all ranks";
  std::map<RankId, Index> by_rank;
  Cost cost;
  for (std::size_t stage = 1; stage < layouts.size(); ++stage) {
    const std::optional<Lift> lifted = lift(layouts[stage - 1], layouts[stage]);
    const Layout& source = lifted ? lifted->source : layouts[stage - 1];
    const Layout& target = lifted ? lifted->target : layouts[stage];
    for (Index ordinal = 0; ordinal < target.mesh().size(); ++ordinal) {
      const RankId rank = target.mesh().rank_at_ordinal(ordinal);
      const Index bytes = elements_missing(source.region(rank), target.region(rank)) * bytes_of(source.dtype());
      cost.received = checked_add(cost.received, bytes, what);
      Index& of_rank = by_rank[rank];
      cost.greatest = std::max(cost.greatest, of_rank += bytes);
    }
  }
  return cost;
}

// The stored dimension with the most elements left to a rank; nothing can be cut after a window. -1 if there is none.
int longest_dim(const LayoutSpec& spec) {
  int longest = -1;
  Index most = 0;
  for (int dim = 0; dim < static_cast<int>(spec.shape.size()); ++dim) {
    const std::vector<Cut>& cuts = spec.cuts[static_cast<std::size_t>(dim)];
    if (!spec.view.empty() && spec.view[static_cast<std::size_t>(dim)].dropped) continue;
    if (!cuts.empty() && cuts.back().rule == Rule::window) continue;
    Index left = spec.shape[static_cast<std::size_t>(dim)];
    for (const Cut& cut : cuts)
      for (const int axis : cut.axes) left = ceil_div(left, spec.mesh.axes()[static_cast<std::size_t>(axis)].size);
    if (left > most) longest = dim, most = left;
  }
  return longest;
}

// The source with its longest dimension also cut by `axes`, which then neither pend nor replicate.
std::optional<Layout> scattered(const Layout& source, const std::vector<int>& axes) {
  LayoutSpec spec = source.spec();
  const int dim = longest_dim(spec);
  if (dim < 0) return std::nullopt;
  for (const int axis : axes) spec.kinds[static_cast<std::size_t>(axis)] = {};
  spec.cuts[static_cast<std::size_t>(dim)].emplace_back().axes = axes;
  spec.storage = {};
  return Layout(std::move(spec));
}

}  // namespace

std::vector<Layout> stages(const Layout& source, const Layout& target) {
  std::vector<Layout> best{source, target};
  const std::optional<Lift> lifted = lift(source, target);
  if (!lifted || lifted->fold.terms == 1 || !lifted->made_axes.empty()) return best;
  std::vector<int> with_copies = lifted->reduced_axes;
  for (const int axis : free_axes(source)) with_copies.push_back(axis);
  std::ranges::sort(with_copies);
  Cost least = cost_of(best);
  for (const std::vector<int>& axes : {lifted->reduced_axes, with_copies}) {
    const std::optional<Layout> middle = scattered(source, axes);
    if (!middle) continue;
    std::vector<Layout> staged{source, *middle, target};
    const Cost cost = cost_of(staged);
    if (cost < least) least = cost, best = std::move(staged);
  }
  return best;
}

}  // namespace reshard
