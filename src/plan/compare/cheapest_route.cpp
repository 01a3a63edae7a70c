#include "plan/compare/cheapest_route.h"

#include <algorithm>
#include <queue>

#include "base/fail.h"

namespace reshard {
namespace {

std::vector<Index> shard_shape(const TensorOnMesh& tensor, const Placements& placements) {
  const Coordinate first(tensor.axes.size(), 0);
  std::vector<Index> shape;
  for (int dim = 0; dim < static_cast<int>(tensor.shape.size()); ++dim)
    shape.push_back(chunk_of(tensor, placements, dim, first).length);
  return shape;
}

// Row-major over dimensions, and along a dimension over the axes that cut it.
std::vector<std::uint32_t> block_of_each_rank(const TensorOnMesh& tensor, const Placements& placements) {
  std::vector<std::uint32_t> blocks;
  for (Index ordinal = 0; ordinal < tensor.ranks(); ++ordinal) {
    const Coordinate coordinate = tensor.coordinate_at(ordinal);
    Index block = 0;
    for (const std::vector<int>& axes : placements.dims)
      for (const int axis : axes) block = block * tensor.axes[axis].size + coordinate[axis];
    blocks.push_back(static_cast<std::uint32_t>(block));
  }
  return blocks;
}

}  // namespace

MoveGraph::MoveGraph(const TensorOnMesh& tensor, MoveSet moves) : tensor_(tensor), moves_(moves) {
  for (Placements& placements : all_placements(tensor)) {
    if (moves == MoveSet::permute_family && !divides(tensor, placements)) continue;
    numbers_.emplace(placements, static_cast<int>(placements_.size()));
    greatest_.push_back(greatest_elements(tensor, placements));
    placements_.push_back(std::move(placements));
  }
  if (moves == MoveSet::dtensor) return;
  std::map<std::vector<Index>, std::vector<int>> by_shape;
  for (std::size_t number = 0; number < placements_.size(); ++number) {
    by_shape[shard_shape(tensor, placements_[number])].push_back(static_cast<int>(number));
    blocks_.push_back(block_of_each_rank(tensor, placements_[number]));
  }
  alike_.resize(placements_.size());
  for (const auto& [shape, numbers] : by_shape)
    for (const int number : numbers) alike_[number] = numbers;
}

Index MoveGraph::elements_moved(int before, int after) const {
  const std::vector<std::uint32_t>&a = blocks_[before], &b = blocks_[after];
  Index ranks = 0;
  for (std::size_t rank = 0; rank < a.size(); ++rank) ranks += a[rank] != b[rank];
  return ranks * greatest_[after];
}

Routes MoveGraph::from(const Placements& source, Index most_elements) const {
  Routes routes(*this);
  routes.reached_.resize(placements_.size());
  using Entry = std::pair<RouteCost, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
  const int start = number_of(source);
  next.push({{}, start});
  const auto offer = [&](int before, int after, int axis, int to, Index received, Index buffers) {
    Routes::Reached& there = routes.reached_[after];
    const RouteCost& so_far = routes.reached_[before].cost;
    const RouteCost cost{so_far.received + received, so_far.steps + 1, std::max(so_far.buffers, buffers)};
    const bool known = after == start || there.from >= 0;
    if (there.final || (known && there.cost <= cost)) return;
    there = {.cost = cost, .from = before, .axis = axis, .to = to};
    next.push({cost, after});
  };
  while (!next.empty()) {
    const int here = next.top().second;
    next.pop();
    if (routes.reached_[here].final) continue;
    routes.reached_[here].final = true;
    const Placements& placements = placements_[here];
    const auto take = [&](int axis, int to) {
      const Step step = step_of(placements, axis, to);
      const auto found = numbers_.find(step.after);
      if (found == numbers_.end() || greatest_[found->second] > most_elements) return;
      const StepCost cost = cost_over_ranks(tensor_, step);
      offer(here, found->second, axis, to, cost.received, cost.buffers);
    };
    for (int axis = 0; axis < static_cast<int>(tensor_.axes.size()); ++axis) {
      const int dim = placements.dim_of(axis);
      if (dim >= 0 && placements.dims[dim].back() != axis) continue;
      for (int to = -1; to < static_cast<int>(tensor_.shape.size()); ++to)
        if (to != dim) take(axis, to);
    }
    if (moves_ == MoveSet::permute_family)
      for (const int other : alike_[here])
        if (other != here) offer(here, other, -1, -1, elements_moved(here, other), 2 * greatest_[here]);
  }
  return routes;
}

const RouteCost& Routes::cost(const Placements& target) const {
  const Reached& reached = reached_[graph_.number_of(target)];
  if (!reached.final) fail(Code::internal, "no moves lead to {}", text_of(graph_.tensor_, target));
  return reached.cost;
}

std::vector<Step> Routes::steps(const Placements& target) const {
  std::vector<Step> steps;
  for (int at = graph_.number_of(target); reached_[at].from >= 0; at = reached_[at].from) {
    const Placements& before = graph_.placements_[reached_[at].from];
    steps.push_back(reached_[at].axis < 0 ? permute_of(before, graph_.placements_[at])
                                          : step_of(before, reached_[at].axis, reached_[at].to));
  }
  std::ranges::reverse(steps);
  return steps;
}

}  // namespace reshard
