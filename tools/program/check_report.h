// What `reshard program check` found, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reshard/check.h"

namespace reshard::cli {

// With the repair as a difference from `program`.
std::string check_text(const SymbolicProgram& program, const CheckReport& report, bool colour);
nlohmann::ordered_json check_json(const SymbolicProgram& program, const CheckReport& report);

nlohmann::ordered_json step_json(const TraceStep& step);
// Throws nlohmann::json::exception for what is no step.
TraceStep step_from_json(const nlohmann::ordered_json& json);

}  // namespace reshard::cli
