#include "plan/model_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "output/output.h"
#include "reshard/checkpoint.h"

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

bool pends(const Layout& source, const Layout& target) { return source.has_partial() || target.has_partial(); }

template <class Work>
void timed(double& seconds, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  seconds += Seconds(std::chrono::steady_clock::now() - begin).count();
}

void verify_plan(PlanReport& report, const std::string& tensor, const Plan& plan) {
  timed(report.verify_seconds, [&] {
    for (const Fault& fault : reshard::verify(plan)) report.faults.push_back(tensor + ": " + fault.message);
  });
}

void add_batch(PlanReport& report, Batch batch, const BatchOptions& options) {
  std::optional<BatchPlan> plan;
  BatchCertificate certificate;
  timed(report.seconds, [&] {
    plan.emplace(std::move(batch), options);
    certificate = plan->certificate();
  });
  report.distinct += std::ssize(plan->classes());
  report.totals.add(*plan, certificate);
  report.packing = PackingReport{.messages = certificate.totals.messages,
                                 .pack_below = options.pack_below,
                                 .peak_staging = certificate.totals.peak_staging,
                                 .staging_limit = options.plan.staging_limit};
  if (!report.verified) return;
  for (const BatchClass& c : plan->classes())
    verify_plan(report, plan->tensors()[static_cast<std::size_t>(c.first)].name, plan->plan(c));
}

void add_pending(PlanReport& report, const Layout& source, const Layout& target, const std::vector<std::string>& names,
                 const PlanOptions& options) {
  std::vector<Plan> plans;
  timed(report.seconds, [&] {
    const std::vector<Layout> layouts = stages(source, target);
    for (std::size_t stage = 1; stage < layouts.size(); ++stage)
      plans.push_back(reshard::plan(layouts[stage - 1], layouts[stage], options));
  });
  ++report.distinct;
  report.staged = report.staged || plans.size() > 1;
  if (report.staged) report.target_ranks = ranks_of_either(source.mesh(), target.mesh());
  report.totals.count(source, std::ssize(names));
  for (const Plan& plan : plans) {
    const Certificate certificate = plan.certificate();
    report.totals.add(plan, certificate, std::ssize(names));
    report.peak_staging = std::max(report.peak_staging, certificate.peak_staging);
    if (report.verified) verify_plan(report, names.front(), plan);
  }
}

}  // namespace

ModelSides sides_of(const ModelRequest& request) {
  const TensorList list = tensors_of(request);
  ModelLayout source = resolved(request.from, request.from_mesh, list);
  ModelLayout target = resolved(request.to, request.to_mesh, list);
  const auto text = [](const std::string& path, const ModelLayout& side) {
    return fmt::format("{} on {}", path, side.mesh().text());
  };
  std::string source_text = text(request.from, source), target_text = text(request.to, target);
  return {std::move(source), std::move(target), std::move(source_text), std::move(target_text)};
}

ModelMoves moves_of(const ModelSides& sides) {
  const auto& [source, target, source_text, target_text] = sides;
  ModelMoves moves{.batch = {.sources = source.layouts(), .targets = target.layouts(), .tensors = {}}, .pending = {}};
  for (const ModelTensor& tensor : source.tensors()) {
    const ModelTensor* other = target.find(tensor.tensor.name);
    if (other == nullptr)
      throw Error(Code::invalid_argument,
                  fmt::format("tensor '{}' is in the source's layout and not in the target's; both must take fused "
                              "tensors apart into the same ones",
                              tensor.tensor.name));
    if (pends(source.layout(tensor), target.layout(*other)))
      moves.pending[{tensor.layout, other->layout}].push_back(tensor.tensor.name);
    else
      moves.batch.tensors.push_back({tensor.tensor.name, tensor.layout, other->layout});
  }
  return moves;
}

PlanReport plan_model(const ModelRequest& request, const BatchOptions& options, bool verify) {
  const ModelSides sides = sides_of(request);
  PlanReport report{.source = sides.source_text, .target = sides.target_text};
  report.model = true;
  report.source_ranks = sides.source.mesh().size();
  report.target_ranks = sides.target.mesh().size();
  report.policy = name_of(options.plan.policy);
  report.verified = verify;
  ModelMoves moves = moves_of(sides);
  if (!moves.batch.tensors.empty()) add_batch(report, std::move(moves.batch), options);
  for (const auto& [layouts, names] : moves.pending)
    add_pending(report, sides.source.layouts()[static_cast<std::size_t>(layouts.first)],
                sides.target.layouts()[static_cast<std::size_t>(layouts.second)], names, options.plan);
  return report;
}

}  // namespace reshard::cli
