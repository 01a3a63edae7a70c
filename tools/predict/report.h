// How a forecast is shown.
#pragma once

#include <string>

#include "predict/forecast.h"

namespace reshard::cli {

std::string forecast_text(const Forecast& forecast, const Topology& topology, const std::string& file);
std::string forecast_json(const Forecast& forecast, const Topology& topology, const std::string& file);

}  // namespace reshard::cli
