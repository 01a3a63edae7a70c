// What a move takes on a topology, of one tensor or of all tensors of a model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/model_plan.h"
#include "reshard/multicast.h"

namespace reshard::cli {

// One scheme over all tensors.
struct SchemeForecast {
  Scheme scheme = Scheme::star;
  double seconds = 0;  // with waits: of one tensor until its last hop has ended; of many, the busiest link and the
                       // longest wait of any of them, as they follow each other
  double link_seconds = 0;
  Index messages = 0;
};

struct Forecast {
  std::string source, target;  // layouts, or models and meshes
  bool model = false;
  Index tensors = 0;
  Index bytes = 0;             // of all tensors
  Index sent = 0, needed = 0;  // by the plans, and by the least plan
  Prediction prediction;       // of the plans
  std::optional<double> rounds_seconds = {};
  Index rounds = 0;
  std::vector<SchemeForecast> schemes = {};  // none if nothing is wanted by several
  double planned_in = 0;                     // seconds that planning and adding up took
};

Forecast forecast_tensor(const Layout& source, const Layout& target, const Topology& topology,
                         const PlanOptions& options, bool rounds);
Forecast forecast_model(const ModelRequest& request, const Topology& topology, const PlanOptions& options);
// Precondition: schemes are not empty.
const SchemeForecast& fastest(const Forecast& forecast);

}  // namespace reshard::cli
