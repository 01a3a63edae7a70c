// What `reshard program simulate` saw, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reshard/simulate.h"

namespace reshard::cli {

struct SimulatedRun {
  std::string program;
  std::vector<Index> devices;
  Index calls = 1;
  std::uint64_t seed = 0;
  SimulateReport report = {};
  std::optional<CostCard> card = {};  // of the last call, from its operations alone
};

std::string simulated_text(const SimulatedRun& run);
nlohmann::ordered_json simulated_json(const SimulatedRun& run);

// Many schedules: how many are right, and what is wrong with the first that are not.
std::string schedules_text(const std::vector<SimulatedRun>& runs, const std::string& seeds);
nlohmann::ordered_json schedules_json(const std::vector<SimulatedRun>& runs);

nlohmann::ordered_json cost_json(const CostCard& card);

}  // namespace reshard::cli
