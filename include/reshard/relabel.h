// Relabelling: which rank takes which place of the target, so that the most bytes stay where they are.
//
// Whoever may choose the order of the target's ranks (a new mesh over running processes) need not move what some rank
// holds already: the target's places are dealt to the same set of ranks by an exact linear assignment over the bytes
// that each rank would keep at each place.
#pragma once

#include <vector>

#include "reshard/plan.h"

namespace reshard {

struct Seat {
  RankId before;  // the rank that had the place
  RankId now;
  friend bool operator==(const Seat&, const Seat&) = default;
};

struct Relabelling {
  Layout target;            // the given one, on the same ranks in another order
  std::vector<Seat> seats;  // places whose rank changed, in order of the mesh's coordinates
  Index kept_before = 0;    // bytes that stay at their rank under the target as given
  Index kept = 0;           // and under `target`: no order of the ranks keeps more
  // Bytes that need not be sent any more.
  Index saved() const { return kept - kept_before; }
};

// Of all orders that keep the most, one in which the most ranks keep their place: nothing changes where nothing is won.
// The result depends on the layouts alone. Ranks of the target that are not in the source hold nothing, so any place
// suits them equally.
// Cost: O(n^3) for n target ranks. Throws as plan() does, and Error(unsupported) for more than 4096 target ranks.
Relabelling relabel(const Layout& source, const Layout& target);

}  // namespace reshard
