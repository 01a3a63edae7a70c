#include "plan/compare/greedy.h"

#include <algorithm>

namespace reshard {
namespace {

std::vector<int> cutting_before(const Placements& placements, int dim, int axis) {
  std::vector<int> axes;
  std::ranges::copy_if(placements.dims[dim], std::back_inserter(axes), [&](int other) { return other < axis; });
  return axes;
}

}  // namespace

std::vector<Step> greedy_steps(const TensorOnMesh& tensor, const Placements& source, const Placements& target) {
  std::vector<Step> steps;
  Placements now = source;
  const auto change = [&](int axis, int dim) {
    if (now.dim_of(axis) == dim) return;
    steps.push_back(step_of(now, axis, dim));
    now = steps.back().after;
  };
  const int axes = static_cast<int>(tensor.axes.size());
  const bool sharded = std::ranges::any_of(source.dims, [](const std::vector<int>& cuts) { return !cuts.empty(); });
  if (axes > 1 && sharded)
    for (int axis = axes - 1; axis >= 0; --axis) {
      const int dim = target.dim_of(axis);
      const bool ready = dim < 0 || cutting_before(now, dim, axis) == cutting_before(target, dim, axis);
      change(axis, ready ? dim : -1);
    }
  for (int axis = 0; axis < axes; ++axis) change(axis, target.dim_of(axis));
  return steps;
}

}  // namespace reshard
