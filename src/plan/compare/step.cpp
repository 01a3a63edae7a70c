#include "plan/compare/step.h"

#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"

namespace reshard {
namespace {

// What one rank has of the two dimensions that a step changes.
struct Ends {
  Index line = 1;    // ranks in the line
  Index whole = 1;   // dimension `from`, before `axis` cuts it
  Index shard = 1;   // and after
  Index padded = 1;  // the longest shard of the line
  Index wide = 1;    // dimension `to`, before `axis` cuts it
  Index part = 1;    // and after
  Index padded_part = 1;
  Index rest = 1;  // all other dimensions
};

Ends ends_at(const TensorOnMesh& tensor, const Step& step, std::span<const Index> coordinate) {
  Ends ends;
  ends.line = tensor.axes[step.axis].size;
  for (int dim = 0; dim < static_cast<int>(tensor.shape.size()); ++dim) {
    const Index before = chunk_of(tensor, step.before, dim, coordinate).length;
    const Index after = chunk_of(tensor, step.after, dim, coordinate).length;
    if (dim == step.from) {
      ends.whole = after;
      ends.shard = before;
      ends.padded = ceil_div(after, ends.line);
    } else if (dim == step.to) {
      ends.wide = before;
      ends.part = after;
      ends.padded_part = ceil_div(before, ends.line);
    } else {
      ends.rest *= before;
    }
  }
  return ends;
}

// The longest chunks of `n` that `axes` and then `line` more ranks get, summed over the coordinates of `axes`.
Index padded_sum(const TensorOnMesh& tensor, Index n, std::span<const int> axes, Index line) {
  if (axes.empty()) return ceil_div(n, line);
  const Index size = tensor.axes[axes.front()].size, part = ceil_div(n, size);
  if (part == 0) return 0;
  // Full chunks, one that is shorter, and empty ones.
  const Index full = n / part;
  return full * padded_sum(tensor, part, axes.subspan(1), line) +
         padded_sum(tensor, n - full * part, axes.subspan(1), line);
}

}  // namespace

Step step_of(const Placements& before, int axis, int to) {
  Step step{Collective::slice, axis, before.dim_of(axis), to, before, before};
  if (step.from >= 0) {
    std::vector<int>& axes = step.after.dims[step.from];
    if (axes.back() != axis)
      fail(Code::internal, "axis {} leaves dimension {} before those that it cut for", axis, step.from);
    axes.pop_back();
    step.collective = to >= 0 ? Collective::all_to_all : Collective::all_gather;
  }
  if (to >= 0) step.after.dims[to].push_back(axis);
  return step;
}

Step permute_of(const Placements& before, const Placements& after) {
  return {Collective::permute, -1, -1, -1, before, after};
}

StepCost cost_at(const TensorOnMesh& tensor, const Step& step, std::span<const Index> coordinate) {
  const Index before = local_elements(tensor, step.before, coordinate);
  const Index after = local_elements(tensor, step.after, coordinate);
  if (step.collective == Collective::slice) return {.buffers = before + after};
  if (step.collective == Collective::permute) {
    bool there = true;
    for (int dim = 0; dim < static_cast<int>(tensor.shape.size()); ++dim)
      there = there && chunk_of(tensor, step.before, dim, coordinate) == chunk_of(tensor, step.after, dim, coordinate);
    return {.received = there ? 0 : after, .buffers = before + after};
  }
  const Ends ends = ends_at(tensor, step, coordinate);
  const Index others = ends.line - 1;
  StepCost cost;
  if (step.collective == Collective::all_gather) {
    cost.received = others * ends.padded * ends.rest;
    cost.padding = cost.received - (ends.whole - ends.shard) * ends.rest;
    cost.buffers = (1 + ends.line) * ends.padded * ends.rest;
  } else {
    cost.received = others * ends.padded * ends.padded_part * ends.rest;
    cost.padding = cost.received - (ends.whole - ends.shard) * ends.part * ends.rest;
    cost.buffers = 2 * ends.line * ends.padded * ends.padded_part * ends.rest;
  }
  return cost;
}

StepCost cost_over_ranks(const TensorOnMesh& tensor, const Step& step) {
  StepCost cost = cost_at(tensor, step, Coordinate(tensor.axes.size(), 0));
  cost.padding = 0;
  if (step.collective == Collective::slice) return cost;
  const Index line = tensor.axes[step.axis].size;
  Index received = (line - 1) * line;  // from the others, at each of them
  for (int dim = 0; dim < static_cast<int>(tensor.shape.size()); ++dim) {
    const Index n = tensor.shape[dim];
    const bool leaves = dim == step.from, comes = dim == step.to;
    const std::vector<int>& axes = leaves ? step.after.dims[dim] : step.before.dims[dim];
    // Unpadded, the chunks of all coordinates are the dimension.
    received *= leaves || comes ? padded_sum(tensor, n, axes, line) : n;
  }
  for (int axis = 0; axis < static_cast<int>(tensor.axes.size()); ++axis)
    if (axis != step.axis && step.before.dim_of(axis) < 0) received *= tensor.axes[axis].size;
  cost.received = received;
  return cost;
}

}  // namespace reshard
