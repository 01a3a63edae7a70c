// reshard explain LAYOUT [LAYOUT]
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "explain/explained.h"
#include "explain/m2m.h"
#include "explain/trace.h"
#include "options/whole_number.h"
#include "output/output.h"
#include "plan/plan_flags.h"
#include "reshard/notation.h"

namespace reshard::cli {
namespace {

struct Request {
  std::string source, target;
  std::string svg, notation;
  std::string color = "auto";
  bool json = false;
  bool m2m = false;
  bool trace = false;
  Index rows = 16;
  int width = 0;
  PlanFlags plan;
};

std::string noted(const Layout& given, std::string_view notation) {
  if (notation == "hlo") return to_hlo(given);
  return notation == "jax" ? to_jax(given) : to_dtensor(given);
}

int print_notation(const Request& request) {
  for (const std::string& text : {request.source, request.target}) {
    if (text.empty()) continue;
    const Layout given = layout(text);
    print(noted(given, request.notation) + "\n");
  }
  return kDone;
}

int print_m2m(const Request& request, const ShowOptions& show) {
  if (request.target.empty())
    throw Error(Code::invalid_argument, "--m2m and --trace map one layout to another: give two layouts");
  const Layout source = layout(request.source), target = layout(request.target);
  if (request.trace) {
    const Trace trace = traced(source, target);
    print(request.json ? trace_json(trace) : trace_text(trace, show));
  } else {
    const M2MMap map = m2m_map(source, target);
    print(request.json ? map.json() + "\n" : m2m_text(map, show));
  }
  return kDone;
}

int explain(const Request& request) {
  const ShowOptions show{.rows = request.rows,
                         .width = request.width > 0 ? request.width : terminal_width(),
                         .colour = in_colour(colour_named(request.color))};
  if (!request.notation.empty()) return print_notation(request);
  if (request.m2m || request.trace) return print_m2m(request, show);
  std::optional<Layout> target;
  if (!request.target.empty()) target = layout(request.target);
  const Explained result = explained(layout(request.source), target, request.plan.options());
  if (!request.svg.empty()) write_file(request.svg, explain_svg(result));
  print(request.json ? explain_json(result) : explain_text(result, show));
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("explain", "Draw a layout, or a move between two: who sends what to whom");
  const auto request = std::make_shared<Request>();
  command->add_option("source", request->source, "Layout, as text")->required()->type_name("LAYOUT");
  command->add_option("target", request->target, "Layout to move to")->type_name("LAYOUT");
  command->add_option("--svg", request->svg, "Write the picture to FILE, too")->type_name("FILE");
  command->add_flag("--json", request->json, "Print everything as JSON, with exact numbers");
  command->add_option("--as", request->notation, "Print only the layouts, in another notation: dtensor, jax or hlo")
      ->check(CLI::IsMember({"dtensor", "jax", "hlo"}))
      ->type_name("NOTATION");
  const auto m2m =
      command->add_flag("--m2m", request->m2m, "Print the m2m map: slicers, cells, routes and their kinds");
  const auto trace = command->add_flag("--trace", request->trace, "Print how the m2m map is found, in six steps");
  command->add_option("--color", request->color, "auto, always or never; auto heeds NO_COLOR")->type_name("WHEN");
  command->add_option("--rows", request->rows, "Rows of each picture and table, 0 for all (16)")
      ->check(whole_number())
      ->type_name("N");
  command->add_option("--width", request->width, "Columns to fill instead of the terminal's")
      ->check(whole_number(1))
      ->type_name("N");
  request->plan.add_to(*command);
  m2m->excludes(trace);
  for (const char* const other : {"--svg", "--as", "--policy", "--ranks-per-host", "--ranks-per-rack"}) {
    m2m->excludes(command->get_option(other));
    trace->excludes(command->get_option(other));
  }
  command->footer(
      "Example:\n"
      "  reshard explain \"f32[4,2] on (r=4) {0: r}\" \"f32[4,2] on (y=2, x=2) {0: y, 1: x}\"\n"
      "  reshard explain --trace \"f32[4,2] on (r=4) {0: r}\" \"f32[4,2] on (y=2, x=2) {0: y, 1: x}\"");
  command->callback([request, &action] { action = [request] { return explain(*request); }; });
}

}  // namespace reshard::cli
