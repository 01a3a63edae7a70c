// A whole model: what moves, and its plan, in which every class of tensors that move alike is planned once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/model_request.h"
#include "plan/report.h"
#include "reshard/batch_plan.h"
#include "reshard/model.h"

namespace reshard::cli {

// How the model's tensors lie on each side.
struct ModelSides {
  ModelLayout source, target;
  std::string source_text, target_text;  // file and mesh
};
ModelSides sides_of(const ModelRequest& request);

// Tensors of a model. What pends is reduced, tensor by tensor; all else moves together.
struct ModelMoves {
  Batch batch;
  std::map<std::pair<int, int>, std::vector<std::string>> pending;  // names, by layouts
};
// Throws Error(invalid_argument) for a tensor that the target's layout lacks.
ModelMoves moves_of(const ModelSides& sides);

PlanReport plan_model(const ModelRequest& request, const BatchOptions& options, bool verify);

}  // namespace reshard::cli
