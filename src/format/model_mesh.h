// The mesh of a model file: the caller's mesh, its split axes, and the axes that rules name but the mesh lacks.
#pragma once

#include <map>
#include <string>

#include "format/expression.h"
#include "reshard/model.h"

namespace reshard {

using Values = std::map<std::string, Index, std::less<>>;

Form form_of(const ModelRules& rules, const ResolveSettings& settings);
// Parameters by name: the caller's, then config.json's, then the rules' defaults.
Values parameter_values(const ModelRules& rules, const ResolveSettings& settings);

struct ModelMesh {
  Mesh mesh;     // with split axes split
  Mesh full;     // the same leaf axes, then every missing axis with size 1: rules are read on this one
  Values sizes;  // of every axis that rules may name
};

ModelMesh model_mesh(const ModelRules& rules, const ResolveSettings& settings, const Values& parameters);
// `on_full` is on model.full; the same cuts on model.mesh, without the missing axes.
Layout without_missing_axes(const Layout& on_full, const ModelMesh& model);

}  // namespace reshard
