// Programs as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "reshard/symbolic.h"

namespace reshard::cli {

// Declarations, and the body as a tree: {"do": "for", "text": "for d in 0..P", "body": [..]}.
nlohmann::ordered_json program_json(const SymbolicProgram& program);
// What each rank of `ranks` does, with numbers in place of names.
nlohmann::ordered_json operations_json(const Program& program, const std::vector<RankId>& ranks);

}  // namespace reshard::cli
