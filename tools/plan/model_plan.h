// Plans a whole model: every class of tensors that move alike once.
#pragma once

#include <optional>
#include <string>

#include "plan/report.h"
#include "reshard/batch_plan.h"

namespace reshard::cli {

struct ModelRequest {
  std::string list;      // checkpoint, index or list of shapes
  std::string shapes;    // with an index: the list of shapes
  std::string from, to;  // model layouts
  std::string from_mesh, to_mesh;
  std::string config;
};

PlanReport plan_model(const ModelRequest& request, const BatchOptions& options, bool verify);

}  // namespace reshard::cli
