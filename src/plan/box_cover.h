// Who holds what in a box list: its different boxes, each with the ranks that have it.
#pragma once

#include <optional>
#include <vector>

#include "plan/box_index.h"

namespace reshard {

struct Holder {
  RankId rank;
  Index box = 0;  // position in the list, the first of this rank
};

// Immutable.
class BoxCover {
 public:
  explicit BoxCover(const BoxList& list);

  // Different boxes, in row-major order of where they begin; none is empty.
  const BoxIndex& index() const { return index_; }
  // Of box k, by ascending rank.
  const std::vector<Holder>& holders(Index k) const { return holders_[k]; }
  // Pairs of different boxes with an element in common, at most `most`. Adds to `comparisons` as the index does.
  std::vector<BoxFault> overlaps(std::size_t most, Index& comparisons) const;
  // Boxes of what nobody holds of `wanted`, at most `most`.
  std::vector<BoxFault> holes(const Box& wanted, std::size_t most) const;

 private:
  std::vector<RankId> ranks_of(const std::vector<Index>& boxes) const;

  std::vector<std::vector<Holder>> holders_;
  BoxIndex index_;
};

}  // namespace reshard
