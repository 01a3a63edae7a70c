// reshard predict LAYOUT LAYOUT --topology FILE, and the same with --model LIST --from A.yaml --to B.yaml
#include <memory>

#include "command.h"
#include "output/output.h"
#include "plan/plan_flags.h"
#include "predict/report.h"
#include "reshard/error.h"
#include "reshard/topology_file.h"

namespace reshard::cli {
namespace {

struct Request {
  std::string source, target, topology;
  ModelRequest model;
  PlanFlags plan;
  bool rounds = false, json = false;
};

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_argument, message); }

void check(const Request& request) {
  const bool model = !request.model.list.empty();
  request.model.check_beside(request.source, request.target, "predict");
  if (model && request.rounds) refuse("--rounds are those of one tensor; give two layouts instead of --model");
}

// Hosts and racks as the topology has them, unless they were given.
PlanOptions options_of(const PlanFlags& flags, const Topology& topology) {
  PlanOptions options = flags.options();
  if (options.ranks_per_host > 0 || topology.levels() < 2) return options;
  options.ranks_per_host = topology.regular(1);
  if (options.ranks_per_host == 0 || topology.levels() < 3 || options.ranks_per_rack > 0) return options;
  const Index rack = topology.regular(2);
  if (rack % options.ranks_per_host == 0) options.ranks_per_rack = rack;
  return options;
}

int run(const Request& request) {
  check(request);
  const Topology topology = load_topology(request.topology);
  const PlanOptions options = options_of(request.plan, topology);
  const Forecast forecast = request.model.list.empty() ? forecast_tensor(layout(request.source), layout(request.target),
                                                                         topology, options, request.rounds)
                                                       : forecast_model(request.model, topology, options);
  print(request.json ? forecast_json(forecast, topology, request.topology)
                     : forecast_text(forecast, topology, request.topology));
  return kDone;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "predict", "How long a move takes on a described cluster, its busiest links, and whether forwarding helps");
  const auto request = std::make_shared<Request>();
  command->add_option("source", request->source, "Layout, as text")->type_name("LAYOUT");
  command->add_option("target", request->target, "Layout to move to")->type_name("LAYOUT");
  command->add_option("--topology", request->topology, "Hosts, racks, sites and the cost of their links")
      ->required()
      ->type_name("YAML");
  request->model.add_to(*command);
  request->plan.add_to(*command);
  command->add_flag("--rounds", request->rounds, "Also the time of rounds that wait for each other");
  command->add_flag("--json", request->json, "Print as JSON, with every link and exact numbers");
  command->footer(
      "A message costs alpha + bytes / rate on each link of its way; a move takes as long as its busiest link.\n"
      "Examples, in the root of the repository:\n"
      "  reshard predict \"bf16[8192,8192] on (dp=4, tp=8) {1: tp, 0: dp}\" \"bf16[8192,8192] on (dp=4, tp=8)@32 {1: "
      "tp}\" --topology topologies/two-sites.yaml\n"
      "  reshard predict --model tests/data/real/llama3.1-70b.shapes.tsv --from models/llama.yaml --from-mesh \"(pp=4, "
      "dp=1, tp=8)\" --to models/llama.yaml --to-mesh \"(dp=4, tp=8)@32\" --topology topologies/two-sites.yaml");
  command->callback([request, &action] { action = [request] { return run(*request); }; });
}

}  // namespace reshard::cli
