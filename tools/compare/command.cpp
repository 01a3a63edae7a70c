// reshard compare LAYOUT LAYOUT, and reshard compare --all MESH..
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "command.h"
#include "compare/report.h"
#include "output/output.h"
#include "reshard/error.h"

namespace reshard::cli {
namespace {

struct Request {
  std::string source, target;
  std::vector<std::string> meshes;
  std::string shape;
  bool json = false;
};

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_argument, message); }

// "2,2,4".
std::vector<Index> numbers(std::string_view option, const std::string& text) {
  std::vector<Index> values;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const auto [after, fault] = std::from_chars(at, end, values.emplace_back());
    if (fault != std::errc() || (after != end && *after != ','))
      refuse(fmt::format("{} {}: expected numbers with commas between them, as in 2,2,4", option, text));
    if (after == end) return values;
    at = after + 1;
  }
}

int compare_all(const Request& request) {
  const std::vector<Index> shape =
      request.shape.empty() ? std::vector<Index>{64, 64} : numbers("--shape", request.shape);
  if (shape.size() != 2) refuse(fmt::format("--shape {}: the table is of a tensor of two dimensions", request.shape));
  std::vector<PlacementTable> tables;
  for (const std::string& mesh : request.meshes)
    tables.push_back(compare_placements(numbers("--all", mesh), shape[0], shape[1]));
  print(request.json ? placement_tables_json(tables, shape[0], shape[1])
                     : placement_tables_text(tables, shape[0], shape[1]));
  return kDone;
}

int run(const Request& request) {
  const bool all = !request.meshes.empty();
  if (all && !request.source.empty()) refuse("give two layouts or --all, not both (see reshard compare --help)");
  if (all) return compare_all(request);
  if (!request.shape.empty()) refuse("--shape goes with --all; a layout says its own");
  if (request.target.empty()) refuse("give two layouts, or --all MESH (see reshard compare --help)");
  const Layout source = layout(request.source), target = layout(request.target);
  const Comparison comparison = compare(source, target);
  print(request.json ? comparison_json(source, target, comparison) : comparison_text(source, target, comparison));
  return kDone;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("compare",
                                         "What a move costs here and the ways other systems do it, as models: bytes, "
                                         "steps, memory");
  const auto request = std::make_shared<Request>();
  command->add_option("source", request->source, "Layout, as text")->type_name("LAYOUT");
  command->add_option("target", request->target, "Layout to move to")->type_name("LAYOUT");
  command
      ->add_option("--all", request->meshes,
                   "Instead of two layouts: all placements R, S0, S1 on a mesh of these axes, as 2,2,2; may come again")
      ->type_name("MESH")
      ->allow_extra_args(false);
  command->add_option("--shape", request->shape, "The tensor of --all (64,64)")->type_name("ROWS,COLUMNS");
  command->add_flag("--json", request->json, "Print as JSON, with exact numbers and bytes by rank");
  command->footer(
      "Examples:\n"
      "  reshard compare \"f32[64,64] on (dp=4, tp=4) {0: dp, 1: tp}\" \"f32[64,64] on (dp=4, tp=4) {0: tp, 1: dp}\"\n"
      "  reshard compare --all 2,2 --all 2,2,2");
  command->callback([request, &action] { action = [request] { return run(*request); }; });
}

}  // namespace reshard::cli
