#include "plan/box_index.h"

#include <algorithm>
#include <numeric>

namespace reshard {
namespace {

constexpr Index kLeaf = 4;  // boxes of a leaf

bool overlap(const Box& a, const Box& b) {
  for (std::size_t dim = 0; dim < a.offsets.size(); ++dim)
    if (a.offsets[dim] + a.sizes[dim] <= b.offsets[dim] || b.offsets[dim] + b.sizes[dim] <= a.offsets[dim])
      return false;
  return true;
}

Box bounds_of(Box a, const Box& b) {
  for (std::size_t dim = 0; dim < a.offsets.size(); ++dim) {
    const GlobalIndex end = std::max(a.offsets[dim] + a.sizes[dim], b.offsets[dim] + b.sizes[dim]);
    a.offsets[dim] = std::min(a.offsets[dim], b.offsets[dim]);
    a.sizes[dim] = end - a.offsets[dim];
  }
  return a;
}

}  // namespace

std::optional<Box> common(const Box& a, const Box& b) {
  if (!overlap(a, b)) return std::nullopt;
  Box both = a;
  for (std::size_t dim = 0; dim < a.offsets.size(); ++dim) {
    both.offsets[dim] = std::max(a.offsets[dim], b.offsets[dim]);
    both.sizes[dim] = std::min(a.offsets[dim] + a.sizes[dim], b.offsets[dim] + b.sizes[dim]) - both.offsets[dim];
  }
  return both;
}

std::vector<Box> without(const Box& a, const Box& b) {
  const auto both = common(a, b);
  if (!both) return {a};
  std::vector<Box> rest;
  Box middle = a;  // agrees with `both` in the dimensions already looked at
  for (std::size_t dim = 0; dim < a.offsets.size(); ++dim) {
    const auto push = [&](GlobalIndex begin, GlobalIndex end) {
      if (begin == end) return;
      Box side = middle;
      side.offsets[dim] = begin;
      side.sizes[dim] = end - begin;
      rest.push_back(std::move(side));
    };
    push(middle.offsets[dim], both->offsets[dim]);
    push(both->offsets[dim] + both->sizes[dim], middle.offsets[dim] + middle.sizes[dim]);
    middle.offsets[dim] = both->offsets[dim];
    middle.sizes[dim] = both->sizes[dim];
  }
  return rest;
}

BoxIndex::BoxIndex(std::vector<Box> boxes) : boxes_(std::move(boxes)), order_(boxes_.size()) {
  std::iota(order_.begin(), order_.end(), Index{0});
  if (!boxes_.empty()) build(0, size());
}

// Halves the boxes along the dimension in which they begin farthest apart.
Index BoxIndex::build(Index begin, Index end) {
  const auto number = static_cast<Index>(nodes_.size());
  Node node{boxes_[order_[begin]], begin, end};
  for (Index k = begin + 1; k < end; ++k) node.bounds = bounds_of(std::move(node.bounds), boxes_[order_[k]]);
  nodes_.push_back(node);
  if (end - begin <= kLeaf) return number;
  std::size_t widest = 0;
  Index width = -1;
  for (std::size_t dim = 0; dim < node.bounds.offsets.size(); ++dim) {
    const auto [least, greatest] =
        std::minmax_element(order_.begin() + begin, order_.begin() + end,
                            [&](Index a, Index b) { return boxes_[a].offsets[dim] < boxes_[b].offsets[dim]; });
    const Index apart = boxes_[*greatest].offsets[dim] - boxes_[*least].offsets[dim];
    if (apart <= width) continue;
    width = apart;
    widest = dim;
  }
  const Index middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](Index a, Index b) {
    const GlobalIndex at_a = boxes_[a].offsets[widest], at_b = boxes_[b].offsets[widest];
    return at_a != at_b ? at_a < at_b : a < b;
  });
  const Index left = build(begin, middle), right = build(middle, end);
  nodes_[number].left = left;
  nodes_[number].right = right;
  return number;
}

std::vector<Index> BoxIndex::overlapping(const Box& box, Index& comparisons) const {
  std::vector<Index> found, open;
  if (!nodes_.empty()) open.push_back(0);
  while (!open.empty()) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    ++comparisons;
    if (!overlap(node.bounds, box)) continue;
    if (node.left != 0) {
      open.push_back(node.left);
      open.push_back(node.right);
      continue;
    }
    for (Index k = node.begin; k < node.end; ++k) {
      ++comparisons;
      if (overlap(boxes_[order_[k]], box)) found.push_back(order_[k]);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace reshard
