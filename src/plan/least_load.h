// Deals whole parts to senders so that the greatest load of one sender is the least there is, exactly.
//
// Senders lie in pools, which form a tree as hosts in racks do: a part may go to any sender of its pool or of a pool
// below it. First they are dealt by rule: innermost pools first, the largest part first, to whoever has least. Among
// equal parts that is the optimum; else a bound often proves that it is. Where it does not, all ways to take from the
// parts are decided one after another: parts of one pool and size are alike, so n_1 of one kind, n_2 of another, ..
// leave (n_1 + 1) (n_2 + 1) .. ways, per pool times those of the pools around it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plan/wide.h"
#include "reshard/index.h"

namespace reshard {

// Ways to take from the parts, over all pools, up to which the optimum is decided: 18 parts of different sizes, 500 of
// each of two sizes, 60 of each of three.
constexpr Index kGreatestWays = Index{1} << 18;

// The pool around it, an earlier one; the first pool holds everything and has none.
struct Pool {
  Index parent = -1;
};

struct DealtPart {
  Index pool = 0;      // with a sender in it or below it
  Index elements = 1;  // at least 1
};

struct Deal {
  std::vector<Index> senders;  // of each part
  Wide greatest = 0;           // load of one sender
};

// `pool_of`: the innermost pool of each sender. Nothing if the optimum is unknown after kGreatestWays. Equal arguments
// give equal deals. Cost: O(n log n) for n parts and senders, or that and at most 128 times the ways, times the kinds.
std::optional<Deal> least_load(std::span<const Pool> pools, std::span<const Index> pool_of,
                               std::span<const DealtPart> parts);

}  // namespace reshard
