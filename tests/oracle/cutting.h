// A slow, obvious model of cuts: elements are handed out one by one, with plain loops.
#pragma once

#include <vector>

#include "reshard/cut.h"

namespace reshard::oracle {

// A stored element that belongs to nobody.
inline constexpr Index hole = -1;

// Whatever an axis is made of, in order: global indices when nothing was cut yet, with holes after a window.
using Line = std::vector<Index>;

// 0, 1, .., n - 1.
Line whole_line(Index n);
// What each of `parts` coordinates gets of `line`, in local order. Throws std::logic_error where the cut has no answer
// (a size that must divide and does not).
std::vector<Line> deal(const Line& line, const Cut& cut, Index parts);

}  // namespace reshard::oracle
