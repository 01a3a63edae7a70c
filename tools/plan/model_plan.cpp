#include "plan/model_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "output/output.h"
#include "reshard/checkpoint.h"
#include "reshard/model.h"

namespace reshard::cli {
namespace {

using Seconds = std::chrono::duration<double>;

TensorList tensors_of(const ModelRequest& request) {
  TensorList list;
  if (request.shapes.empty()) {
    list = load_tensor_list(request.list);
  } else {
    list.tensors = tensors_from_index_and_shapes(read_file(request.list), read_file(request.shapes), request.shapes);
  }
  if (!request.config.empty()) list.config_text = read_file(request.config);
  return list;
}

ModelLayout resolved(const std::string& path, const std::string& mesh_text, const TensorList& list) {
  ResolveSettings settings;
  settings.config = list.config_text;
  if (!mesh_text.empty()) settings.mesh = mesh(mesh_text);
  return resolve(load_model_rules(path), list.tensors, settings);
}

// Ranks that hold the same part of the source: the number of different turns among them.
Index turns_of(const Layout& layout) {
  Index turns = 1;
  for (std::size_t axis = 0; axis < layout.spec().kinds.size(); ++axis)
    if (layout.spec().kinds[axis].kind == AxisKind::Kind::replicate) turns *= layout.mesh().axes()[axis].size;
  return turns;
}

// A rotation matters only modulo the number of copies, so tensors that agree in it move alike.
using Class = std::tuple<int, int, Index>;  // source layout, target layout, turn

struct Members {
  Index count = 0;
  std::string first;  // a tensor of the class, for faults
};

std::map<Class, Members> classes_of(const ModelLayout& source, const ModelLayout& target) {
  std::map<Class, Members> classes;
  Index ordinal = 0;
  for (const ModelTensor& tensor : source.tensors()) {
    const ModelTensor* other = target.find(tensor.tensor.name);
    if (other == nullptr)
      throw Error(Code::invalid_argument,
                  fmt::format("tensor '{}' is in the source's layout and not in the target's; both must take fused "
                              "tensors apart into the same ones",
                              tensor.tensor.name));
    Members& members = classes[{tensor.layout, other->layout, ordinal++ % turns_of(source.layout(tensor))}];
    if (members.count++ == 0) members.first = tensor.tensor.name;
  }
  return classes;
}

}  // namespace

PlanReport plan_model(const ModelRequest& request, const PlanOptions& options, bool verify) {
  const TensorList list = tensors_of(request);
  const ModelLayout source = resolved(request.from, request.from_mesh, list);
  const ModelLayout target = resolved(request.to, request.to_mesh, list);
  PlanReport report{.source = fmt::format("{} on {}", request.from, source.mesh().text()),
                    .target = fmt::format("{} on {}", request.to, target.mesh().text())};
  report.model = true;
  report.source_ranks = source.mesh().size();
  report.target_ranks = target.mesh().size();
  report.policy = name_of(options.policy);
  report.verified = verify;
  const auto classes = classes_of(source, target);
  report.distinct = std::ssize(classes);
  for (const auto& [key, members] : classes) {
    const auto& [from, to, turn] = key;
    PlanOptions turned = options;
    turned.rotation = turn;
    const auto begin = std::chrono::steady_clock::now();
    std::vector<Plan> plans;
    const std::vector<Layout> layouts =
        stages(source.layouts()[static_cast<std::size_t>(from)], target.layouts()[static_cast<std::size_t>(to)]);
    for (std::size_t stage = 1; stage < layouts.size(); ++stage)
      plans.push_back(reshard::plan(layouts[stage - 1], layouts[stage], turned));
    const auto planned = std::chrono::steady_clock::now();
    report.seconds += Seconds(planned - begin).count();
    report.staged = report.staged || plans.size() > 1;
    report.totals.count(layouts.front(), members.count);
    for (const Plan& plan : plans) {
      const Certificate certificate = plan.certificate();
      report.totals.add(plan, certificate, members.count);
      report.peak_staging = std::max(report.peak_staging, certificate.peak_staging);
    }
    if (!verify) continue;
    const auto checked = std::chrono::steady_clock::now();
    for (const Plan& plan : plans)
      for (const Fault& fault : reshard::verify(plan)) report.faults.push_back(members.first + ": " + fault.message);
    report.verify_seconds += Seconds(std::chrono::steady_clock::now() - checked).count();
  }
  return report;
}

}  // namespace reshard::cli
