// The m2m map of two layouts, for people.
#pragma once

#include <string>

#include "explain/explained.h"
#include "reshard/m2m.h"

namespace reshard::cli {

std::string m2m_text(const M2MMap& map, const ShowOptions& options);
// "source_num_slicers (1,2) ..": what a map has beside its routes, one line each.
std::string grid_text(const M2MMap& map);
// The map as a table, one line per cell that arrives.
std::string map_table(const M2MMap& map, const ShowOptions& options);

}  // namespace reshard::cli
