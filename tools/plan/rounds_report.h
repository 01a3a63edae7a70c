// How rounds are shown.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reshard/rounds.h"

namespace reshard::cli {

std::string rounds_text(const Rounds<RankId>& rounds);
std::string rounds_text(const Rounds<HostId>& rounds);
nlohmann::ordered_json rounds_json(const Rounds<RankId>& rounds);
nlohmann::ordered_json rounds_json(const Rounds<HostId>& rounds);

}  // namespace reshard::cli
