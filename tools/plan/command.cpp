// reshard plan LAYOUT LAYOUT, and reshard plan --model LIST --from A.yaml --to B.yaml
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "command.h"
#include "output/output.h"
#include "plan/model_plan.h"
#include "plan/plan_flags.h"

namespace reshard::cli {
namespace {

struct Request {
  std::string source, target;
  ModelRequest model;
  PlanFlags plan;
  BatchOptions packing;  // its limit of staging is that of the plan as well
  bool matrix = false, verify = false, json = false, rounds = false, relabel = false;
  std::string out;

  BatchOptions options() const {
    BatchOptions options{.plan = plan.options(), .pack_below = packing.pack_below};
    options.plan.staging_limit = packing.plan.staging_limit;
    return options;
  }
};

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_argument, message); }

void check(const Request& request) {
  const bool model = !request.model.list.empty();
  if (!model && request.packing.pack_below != BatchOptions{}.pack_below)
    refuse("--pack-below goes with --model: one tensor has one transfer between two ranks");
  request.model.check_beside(request.source, request.target, "plan");
  if (model && !request.out.empty()) refuse("--out writes the plan of one tensor; give two layouts instead of --model");
  if (model && request.relabel)
    refuse("--relabel orders the ranks for one tensor; give two layouts instead of --model");
}

PlanReport plan_tensor(const Request& request) {
  const Layout source = layout(request.source), given = layout(request.target);
  std::optional<Relabelling> relabelled;
  if (request.relabel) relabelled = relabel(source, given);
  const Layout& target = relabelled ? relabelled->target : given;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Layout> layouts = stages(source, target);
  std::vector<Plan> plans;
  for (std::size_t stage = 1; stage < layouts.size(); ++stage)
    plans.push_back(reshard::plan(layouts[stage - 1], layouts[stage], request.options().plan));
  const auto planned = std::chrono::steady_clock::now();
  if (!request.out.empty() && plans.size() > 1)
    refuse(
        fmt::format("this move has two plans, by way of {}; --out writes one: give two layouts that lie next to each "
                    "other",
                    layouts[1].text()));
  PlanReport report{.source = source.text(), .target = target.text()};
  report.target_given = given.text();
  report.relabelled = relabelled;
  report.seconds = std::chrono::duration<double>(planned - begin).count();
  report.source_ranks = source.mesh().size();
  report.target_ranks = target.mesh().size();
  report.policy = request.plan.policy;
  report.distinct = 1;
  report.staged = plans.size() > 1;
  if (report.staged) report.target_ranks = ranks_of_either(source.mesh(), target.mesh());
  report.totals.count(source, 1);
  for (const Plan& plan : plans) {
    const Certificate certificate = plan.certificate();
    report.totals.add(plan, certificate, 1);
    report.stages.push_back({plan.target().text(), certificate.sent, certificate.needed, certificate.messages});
    report.peak_staging = std::max(report.peak_staging, certificate.peak_staging);
  }
  if (request.verify) {
    report.verified = true;
    const auto checked = std::chrono::steady_clock::now();
    for (const Plan& plan : plans)
      for (const Fault& fault : verify(plan)) report.faults.push_back(fault.message);
    report.verify_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - checked).count();
  }
  if (request.out == "-") print(plans.front().json() + "\n");
  if (!request.out.empty() && request.out != "-") write_file(request.out, plans.front().json() + "\n");
  return report;
}

void add_rounds(PlanReport& report, Index ranks_per_host) {
  const std::vector<RankMessage> messages = report.totals.packed();
  report.rounds = rank_rounds(messages);
  if (ranks_per_host > 0) report.host_rounds = host_rounds(messages, ranks_per_host);
}

int run(const Request& request) {
  check(request);
  PlanReport report =
      request.model.list.empty() ? plan_tensor(request) : plan_model(request.model, request.options(), request.verify);
  if (request.rounds) add_rounds(report, request.plan.ranks_per_host);
  if (request.out != "-")
    print(request.json ? report_json(report, request.matrix)
                       : report_text(report, request.matrix, request.plan.ranks_per_host));
  return report.faults.empty() ? kDone : kWrong;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("plan",
                                         "What a move costs, for one tensor or a whole model: bytes, messages, "
                                         "busiest ranks");
  const auto request = std::make_shared<Request>();
  command->add_option("source", request->source, "Layout, as text")->type_name("LAYOUT");
  command->add_option("target", request->target, "Layout to move to")->type_name("LAYOUT");
  request->model.add_to(*command);
  request->plan.add_to(*command);
  command
      ->add_option("--staging", request->packing.plan.staging_limit,
                   "Intermediate memory that a rank may use, for packing and for reductions (1MiB)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::NonNegativeNumber)
      ->type_name("SIZE");
  command
      ->add_option("--pack-below", request->packing.pack_below,
                   "Transfers of a model that are smaller share messages (64KiB)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::NonNegativeNumber)
      ->type_name("SIZE");
  command->add_flag("--matrix", request->matrix, "Also bytes from every rank to every rank");
  command->add_flag("--rounds", request->rounds,
                    "Also rounds in which no rank, and no host with --ranks-per-host, sends or receives twice");
  command->add_flag("--relabel", request->relabel,
                    "Give the places of the target to its ranks so that the most bytes stay in place");
  command->add_flag("--verify", request->verify, "Also prove every distinct plan right; exit 1 if one is not");
  command->add_flag("--json", request->json, "Print as JSON, with exact numbers");
  command
      ->add_option("--out", request->out, "Write the plan of one tensor as JSON, for reshard verify; - prints it alone")
      ->type_name("FILE");
  command->footer(
      "Examples, the second in the root of the repository:\n"
      "  reshard plan \"bf16[8192,8192] on (dp=2, tp=4) {0: tp dp}\" \"bf16[8192,8192] on (tp=6)@8 {1: tp}\"\n"
      "  reshard plan --model tests/data/real/llama3.1-70b.shapes.tsv --verify --from models/llama.yaml --from-mesh "
      "\"(pp=4, dp=2, tp=8)\" --to models/llama.yaml --to-mesh \"(dp=4, tp=4)@64\"");
  command->callback([request, &action] { action = [request] { return run(*request); }; });
}

}  // namespace reshard::cli
