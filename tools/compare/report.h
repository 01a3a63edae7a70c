// The tables of `reshard compare`, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "reshard/compare.h"

namespace reshard::cli {

std::string comparison_text(const Layout& source, const Layout& target, const Comparison& comparison);
std::string comparison_json(const Layout& source, const Layout& target, const Comparison& comparison);

// One line per mesh, of a [rows, columns] tensor.
std::string placement_tables_text(const std::vector<PlacementTable>& tables, Index rows, Index columns);
std::string placement_tables_json(const std::vector<PlacementTable>& tables, Index rows, Index columns);

}  // namespace reshard::cli
