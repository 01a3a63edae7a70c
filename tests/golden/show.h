// Short readings of layouts and plans, in the notation of the golden tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reshard/plan.h"

namespace reshard {

// Elements of one dimension that each rank holds, in order of the mesh's coordinates.
std::vector<Index> sizes_of(const Layout& layout, int dim = 0);
// The same by a cut alone: `cut` is the text of one cut of an axis "p" of `parts` coordinates.
std::vector<Index> sizes_by(std::string_view cut, Index n, Index parts);
// First element of each rank; the end of the dimension for a rank that holds none (cases C10, C12).
std::vector<Index> offsets_of(const Layout& layout, int dim = 0);
// Global indices along one dimension in local order.
std::vector<Index> held_by(const Layout& layout, Index rank, int dim = 0);
// "(local,global,length) .." along dimension 0.
std::string segments_of(const Layout& layout, Index rank);
// What `rank` receives, one box after the other by target start: "(0,[0:3,0:2]->[0:3,0:2]) ..".
std::string received_by(const Plan& plan, Index rank);

}  // namespace reshard
