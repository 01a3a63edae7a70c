// Pending terms as ordinary values: the idea behind every move from or to a partial layout.
//
// An axis of k ranks along which a value is pending is one more leading dimension of the tensor, of length k, cut one
// index per coordinate. A target that wants the value needs all k indices, so its lifted form does not cut that
// dimension; a target in which the value stays pending cuts it just so, and each term moves on its own. What is left is
// a move between two layouts without pending values, and everything that is known of those holds: who sends, copies,
// bounds, proof.
#pragma once

#include <optional>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

// What becomes of the terms of one element once they are at its target.
struct Fold {
  ReduceOp op = ReduceOp::sum;
  Index terms = 1;    // 1: there is nothing to reduce
  Index divisor = 1;  // avg: of the sum; terms of axes that are only summed do not count
};

struct Lift {
  Layout source;
  Layout target;
  std::vector<Index> extents;     // of the leading dimensions: terms along it that meet at the target, 1 if they do not
  std::vector<int> reduced_axes;  // of the source
  std::vector<int> made_axes;     // of the target: partial, and nothing pends along them in the source
  Fold fold;
  // Ranks that hold something of the target and nothing of the lifted target hold the identity of this op.
  std::optional<ReduceOp> identity;
};

// Nothing when neither layout is partial. Throws Error(invalid_argument) when shapes or dtypes differ, and
// Error(unsupported) that names axes, ops and the way out when the move has no defined result.
std::optional<Lift> lift(const Layout& source, const Layout& target);

}  // namespace reshard
