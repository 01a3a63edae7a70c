#include "reshard/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "plan/compare/cheapest_route.h"
#include "plan/compare/described.h"
#include "plan/compare/greedy.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

constexpr Index kMostPlacements = 4096;
constexpr Index kMostBlocks = Index{1} << 24;       // numbers of shards that the permute family's search keeps
constexpr Index kMostComparisons = Index{1} << 33;  // and compares

// What every rank holds before and after, in bytes, along Comparison::ranks.
struct Shards {
  std::vector<Index> source, target;
};

Shards shards_of(const Layout& source, const Layout& target, const std::vector<RankId>& ranks) {
  Shards shards;
  const Index bytes_each = bytes_of(source.dtype());
  for (const RankId rank : ranks) {
    shards.source.push_back(source.region(rank).elements() * bytes_each);
    shards.target.push_back(target.region(rank).elements() * bytes_each);
  }
  return shards;
}

MoverCost refused(Mover mover, std::string why) { return {.mover = mover, .refused = std::move(why)}; }

MoverCost direct(const Certificate& certificate, const Shards& shards) {
  MoverCost cost{.mover = Mover::direct};
  for (std::size_t rank = 0; rank < certificate.ranks.size(); ++rank) {
    cost.received_by_rank.push_back(certificate.ranks[rank].received);
    cost.received += certificate.ranks[rank].received;
    cost.peak = std::max(cost.peak, shards.source[rank] + shards.target[rank] + certificate.peak_staging);
  }
  cost.steps.push_back({Collective::exchange, "", "", cost.received});
  return cost;
}

MoverCost gather_then_slice(const Layout& source, const Layout& target, const std::vector<RankId>& ranks,
                            const Shards& shards) {
  MoverCost cost{.mover = Mover::gather_then_slice};
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const bool wants = target.region(ranks[rank]).held;
    const Index received = wants ? source.bytes() - shards.source[rank] : 0;
    cost.received_by_rank.push_back(received);
    cost.received += received;
    const Index most = std::max(shards.source[rank], shards.target[rank]);
    cost.peak = std::max(cost.peak, wants ? source.bytes() + most : shards.source[rank]);
  }
  cost.steps = {{Collective::all_gather, "", "", cost.received}, {Collective::slice, "", "", 0}};
  return cost;
}

// The costs of a way through placements. `ranks` are those of the mesh, ascending.
MoverCost along(Mover mover, const TensorOnMesh& tensor, const std::vector<Step>& steps, const Mesh& mesh,
                const std::vector<RankId>& ranks, const Shards& shards) {
  MoverCost cost{.mover = mover};
  cost.received_by_rank.resize(ranks.size(), 0);
  std::vector<Coordinate> coordinates;
  for (const RankId rank : ranks) coordinates.push_back(tensor.coordinate_at(*mesh.ordinal_of(rank)));
  if (steps.empty()) cost.peak = *std::ranges::max_element(shards.source);
  for (const Step& step : steps) {
    MoverStep shown{step.collective, step.axis < 0 ? "" : tensor.axes[step.axis].name, text_of(tensor, step.after), 0};
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const StepCost at = cost_at(tensor, step, coordinates[rank]);
      shown.received += at.received * tensor.element_bytes;
      cost.padding += at.padding * tensor.element_bytes;
      cost.received_by_rank[rank] += at.received * tensor.element_bytes;
      cost.peak = std::max(cost.peak, at.buffers * tensor.element_bytes);
    }
    cost.received += shown.received;
    cost.steps.push_back(std::move(shown));
  }
  return cost;
}

std::string why_no_search(const TensorOnMesh& tensor, Mover mover) {
  const Index placements = count_placements(tensor, kMostPlacements + 1);
  if (placements > kMostPlacements)
    return fmt::format("{} axes on {} dimensions have more than {} placements to search", tensor.axes.size(),
                       tensor.shape.size(), kMostPlacements);
  const Index blocks = placements * std::min(tensor.ranks(), kMostBlocks + 1);
  if (mover == Mover::permute_family && (blocks > kMostBlocks || blocks * placements > kMostComparisons))
    return fmt::format("{} placements of {} ranks are too many to search", placements, tensor.ranks());
  return "";
}

// Why this way cannot go from placements to placements.
std::string why_not(Mover mover, const Described& described) {
  if (!described.refused.empty()) return described.refused;
  const TensorOnMesh& tensor = described.tensor;
  for (const Placements* side : {&described.source, &described.target}) {
    if (mover == Mover::dtensor_greedy && !side->in_axis_order())
      return fmt::format("takes axes in their order only, not {}: DTensor leaves that to its graph",
                         text_of(tensor, *side));
    if (mover == Mover::permute_family && !divides(tensor, *side))
      return fmt::format("cuts evenly only; {} does not divide the sizes", text_of(tensor, *side));
  }
  return mover == Mover::dtensor_greedy ? "" : why_no_search(tensor, mover);
}

std::vector<Step> steps_of(Mover mover, const Described& described) {
  const auto& [why, tensor, source, target] = described;
  if (mover == Mover::dtensor_greedy) return greedy_steps(tensor, source, target);
  const bool permutes = mover == Mover::permute_family;
  const Index most = permutes ? std::max(greatest_elements(tensor, source), greatest_elements(tensor, target))
                              : std::numeric_limits<Index>::max();
  const MoveGraph graph(tensor, permutes ? MoveSet::permute_family : MoveSet::dtensor);
  return graph.from(source, most).steps(target);
}

}  // namespace

std::string_view name_of(Mover mover) {
  constexpr std::string_view kNames[] = {"direct", "permute_family", "dtensor_graph", "dtensor_greedy",
                                         "gather_then_slice"};
  return kNames[static_cast<std::size_t>(mover)];
}

std::string_view name_of(Collective collective) {
  constexpr std::string_view kNames[] = {"exchange", "slice", "permute", "all-to-all", "all-gather"};
  return kNames[static_cast<std::size_t>(collective)];
}

Comparison compare(const Layout& source, const Layout& target) {
  const Certificate certificate = plan(source, target).certificate();
  Comparison comparison;
  for (const RankBytes& rank : certificate.ranks) comparison.ranks.push_back(rank.rank);
  const Shards shards = shards_of(source, target, comparison.ranks);
  comparison.needed = certificate.needed;
  for (std::size_t rank = 0; rank < comparison.ranks.size(); ++rank)
    comparison.both_shards = std::max(comparison.both_shards, shards.source[rank] + shards.target[rank]);

  const Described described = describe(source, target);
  if (described.refused.empty()) {
    comparison.source_placements = text_of(described.tensor, described.source);
    comparison.target_placements = text_of(described.tensor, described.target);
  }
  comparison.movers.push_back(direct(certificate, shards));
  for (const Mover mover : {Mover::permute_family, Mover::dtensor_graph, Mover::dtensor_greedy}) {
    std::string why = why_not(mover, described);
    comparison.movers.push_back(why.empty() ? along(mover, described.tensor, steps_of(mover, described), source.mesh(),
                                                    comparison.ranks, shards)
                                            : refused(mover, std::move(why)));
  }
  comparison.movers.push_back(source.has_partial() || target.has_partial()
                                  ? refused(Mover::gather_then_slice, described.refused)
                                  : gather_then_slice(source, target, comparison.ranks, shards));
  return comparison;
}

}  // namespace reshard
