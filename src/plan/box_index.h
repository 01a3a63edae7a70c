// Finds the boxes that overlap a given one: a balanced tree whose nodes know the bounds of all boxes below them.
#pragma once

#include <optional>
#include <vector>

#include "reshard/boxes.h"

namespace reshard {

// Elements of both; nothing if there are none.
std::optional<Box> common(const Box& a, const Box& b);
// What of `a` is not in `b`, in disjoint boxes.
std::vector<Box> without(const Box& a, const Box& b);

// Immutable.
class BoxIndex {
 public:
  // None of the boxes is empty.
  explicit BoxIndex(std::vector<Box> boxes);

  const Box& box(Index k) const { return boxes_[k]; }
  Index size() const { return static_cast<Index>(boxes_.size()); }
  // Ascending. Adds to `comparisons` how many bounds were looked at.
  std::vector<Index> overlapping(const Box& box, Index& comparisons) const;

 private:
  struct Node {
    Box bounds;
    Index begin = 0, end = 0;   // of order_
    Index left = 0, right = 0;  // nodes; 0 for a leaf
  };
  Index build(Index begin, Index end);

  std::vector<Box> boxes_;
  std::vector<Index> order_;
  std::vector<Node> nodes_;
};

}  // namespace reshard
