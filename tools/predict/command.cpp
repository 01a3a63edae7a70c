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
  if (model && !request.source.empty()) refuse("give two layouts or --model, not both (see reshard predict --help)");
  if (!model && request.target.empty())
    refuse("give two layouts, or --model LIST --from A.yaml --to B.yaml (see reshard predict --help)");
  if (model && (request.model.from.empty() || request.model.to.empty()))
    refuse("--model needs --from A.yaml and --to B.yaml: how the model lies on each side");
  if (model && request.rounds) refuse("--rounds are those of one tensor; give two layouts instead of --model");
  if (!model && !(request.model.from + request.model.to + request.model.from_mesh + request.model.to_mesh +
                  request.model.config + request.model.shapes)
                     .empty())
    refuse("--from, --to, --from-mesh, --to-mesh, --config and --shapes go with --model");
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
  ModelRequest& model = request->model;
  command->add_option("source", request->source, "Layout, as text")->type_name("LAYOUT");
  command->add_option("target", request->target, "Layout to move to")->type_name("LAYOUT");
  command->add_option("--topology", request->topology, "Hosts, racks, sites and the cost of their links")
      ->required()
      ->type_name("YAML");
  command
      ->add_option("--model", model.list,
                   "A checkpoint, an index with --shapes, or a NAME.shapes.tsv: no weights needed")
      ->type_name("LIST");
  command->add_option("--shapes", model.shapes, "Shapes of the tensors that the index names")->type_name("TSV");
  command->add_option("--from", model.from, "Model layout of the source")->type_name("YAML");
  command->add_option("--to", model.to, "Model layout of the target")->type_name("YAML");
  command->add_option("--from-mesh", model.from_mesh, "Mesh of the source instead of the file's")->type_name("MESH");
  command->add_option("--to-mesh", model.to_mesh, "Mesh of the target instead of the file's")->type_name("MESH");
  command->add_option("--config", model.config, "The model's config.json")->type_name("JSON");
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
