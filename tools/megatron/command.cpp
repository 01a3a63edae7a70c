// reshard megatron ROSTERS.json
#include <fmt/format.h>

#include <map>
#include <memory>

#include "command.h"
#include "megatron/report.h"
#include "options/whole_number.h"
#include "output/output.h"

namespace reshard::cli {
namespace {

const std::map<std::string, megatron::SourceRule> kRules{{"balanced", megatron::SourceRule::balanced},
                                                         {"megatron", megatron::SourceRule::megatron}};
const std::map<std::string, megatron::MixedPacking> kReadings{{"refuse", megatron::MixedPacking::refuse},
                                                              {"plain", megatron::MixedPacking::plain},
                                                              {"packed", megatron::MixedPacking::packed}};

struct Request {
  std::string file, rule = "balanced", mixed = "refuse";
  Index rank = -1;
  bool verify = false, layouts = false, json = false;
};

// Refused if no record is of this rank: one that was mistyped would look like one without work.
RankId rank_of(const megatron::Rosters& rosters, RankId rank) {
  for (const megatron::Roster* side : {&rosters.sources, &rosters.targets})
    for (const megatron::Parameter& parameter : side->parameters)
      if (parameter.owner == rank) return rank;
  throw Error(Code::invalid_argument, fmt::format("--rank {}: no record of either side is of this rank", rank.value()));
}

int run(const Request& request) {
  if (request.verify && request.rank >= 0)
    throw Error(Code::invalid_argument, "--verify proves the plan of all ranks; leave --rank out");
  const megatron::ShardOptions options{.rule = kRules.at(request.rule), .mixed = kReadings.at(request.mixed)};
  const megatron::Rosters read = megatron::rosters_from_json(read_file(request.file));
  ShardReport report;
  report.rosters = {megatron::with_names(read.sources), megatron::with_names(read.targets)};
  megatron::ShardPlanner planner(report.rosters, options);
  if (request.rank >= 0) report.rank = rank_of(report.rosters, RankId(request.rank));
  report.plan = report.rank ? planner.plan(*report.rank) : planner.plan();
  report.layouts = request.layouts;
  report.verified = request.verify;
  if (request.verify)
    for (const Fault& fault : verify(report.rosters, report.plan, options)) report.faults.push_back(fault.message);
  print(request.json ? report_json(report) : report_text(report));
  return report.faults.empty() ? kDone : kWrong;
}

}  // namespace

void add_megatron(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("megatron",
                                         "Plan a move between two rosters of Megatron's parameter metadata: boxes, "
                                         "copies, and what is wrong with the records");
  const auto request = std::make_shared<Request>();
  command->add_option("rosters", request->file, "JSON with \"sources\" and \"targets\"; - reads standard input")
      ->type_name("FILE")
      ->required();
  command->add_option("--rule", request->rule, "Which copy sends: balanced (by bytes) or megatron (its rule)")
      ->check(CLI::IsMember(kRules))
      ->type_name("RULE");
  command
      ->add_option(
          "--mixed", request->mixed,
          "Where one side lists partition_sizes and the other does not: refuse, plain (a cut of the whole as it "
          "stands) or packed (each piece cut on its own)")
      ->check(CLI::IsMember(kReadings))
      ->type_name("READING");
  command->add_option("--rank", request->rank, "Only what this rank sends and receives, derived as it would alone")
      ->check(whole_number())
      ->type_name("RANK");
  command->add_flag("--verify", request->verify, "Also prove the plan right; exit 1 if it is not");
  command->add_flag("--layouts", request->layouts, "Also both sides of every tensor as layouts, for reshard plan");
  command->add_flag("--json", request->json, "Print as JSON, all boxes");
  command->footer(
      "A record has the fields of ParameterMetadata: name, owner_rank, shape (stored), dtype, and as far as they "
      "apply\n"
      "  is_tp, partition_dim, partition_stride, partition_sizes, is_gtp, gtp_pad_length, is_ep, num_experts and the\n"
      "  *_group_ranks, lists of ranks or names of lists in \"groups\". docs/design/megatron.md has the format.\n"
      "  {\"groups\": {\"tp\": [0, 1]},\n"
      "   \"sources\": {\"layers\": {\"1\": {\"decoder.layers.0\": 17}}, \"parameters\": [{\"name\": \"w\", ..}, "
      "..]},\n"
      "   \"targets\": {\"rank_offset\": 8, \"parameters\": [..]}}\n"
      "Example, in the root of the repository:\n"
      "  reshard megatron tests/data/megatron/windows.json --verify --layouts");
  command->callback([request, &action] { action = [request] { return run(*request); }; });
}

}  // namespace reshard::cli
