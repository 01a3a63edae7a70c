// reshard op NAME LAYOUT [LAYOUT]
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <memory>

#include "command.h"
#include "op/report.h"
#include "output/output.h"
#include "reshard/error.h"
#include "reshard/halo.h"
#include "reshard/primitives.h"

namespace reshard::cli {
namespace {

struct Request {
  std::string name, in, out;
  std::string axis, split = "balanced", edge = "zero";
  int dim = 0, to = 0, from = 1;
  Index lo = 0, hi = 0;
  bool explain = false, check = false, json = false;
};

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::invalid_argument, message); }

// In the words of layouts: "balanced", "sizes[3,4]", "cyclic(2)".
op::Split split_of(const Request& request, const Layout& in, int dim) {
  const std::size_t at = static_cast<std::size_t>(dim < 0 ? dim + in.dims() : dim);
  if (at >= in.shape().size() || !in.mesh().find(request.axis))
    return op::balanced();  // the operator says what is wrong
  const std::string text =
      fmt::format("u8[{}] on {} {{0: {}:{}}}", in.shape()[at], in.mesh().text(), request.axis, request.split);
  return layout(text).spec().cuts[0][0];
}

HaloEdge edge_of(const std::string& name) {
  const std::map<std::string, HaloEdge> edges{{"none", HaloEdge::none()},
                                              {"zero", HaloEdge::zero()},
                                              {"clamp", HaloEdge::clamp()},
                                              {"mirror", HaloEdge::mirror()},
                                              {"periodic", HaloEdge::periodic()}};
  const auto edge = edges.find(name);
  if (edge == edges.end()) refuse(fmt::format("--edge {}: none, zero, clamp, mirror or periodic", name));
  return edge->second;
}

using Make = std::function<LinearOp(const Layout& in, const Request& request)>;

const std::map<std::string, Make>& operators() {
  static const std::map<std::string, Make> all{
      {"copy_to", [](const Layout& in, const Request& r) { return op::copy_to(in, r.axis); }},
      {"reduce_from", [](const Layout& in, const Request& r) { return op::reduce_from(in, r.axis); }},
      {"all_reduce", [](const Layout& in, const Request& r) { return op::all_reduce(in, r.axis); }},
      {"scatter_to",
       [](const Layout& in, const Request& r) { return op::scatter_to(in, r.axis, r.dim, split_of(r, in, r.dim)); }},
      {"gather_from", [](const Layout& in, const Request& r) { return op::gather_from(in, r.axis, r.dim); }},
      {"gather_from_copy_to",
       [](const Layout& in, const Request& r) { return op::gather_from_copy_to(in, r.axis, r.dim); }},
      {"reduce_from_scatter_to",
       [](const Layout& in, const Request& r) {
         return op::reduce_from_scatter_to(in, r.axis, r.dim, split_of(r, in, r.dim));
       }},
      {"transpose", [](const Layout& in,
                       const Request& r) { return op::transpose(in, r.axis, r.to, r.from, split_of(r, in, r.to)); }},
      {"widen",
       [](const Layout& in, const Request& r) {
         return op::widen(in, {{{.dim = r.dim, .lo = r.lo, .hi = r.hi, .edge = edge_of(r.edge)}}});
       }},
      {"move", [](const Layout& in, const Request& r) { return LinearOp("move", in, layout(r.out)); }},
  };
  return all;
}

std::string names() {
  std::vector<std::string> all;
  for (const auto& [name, make] : operators()) all.push_back(name);
  return fmt::format("{}", fmt::join(all, ", "));
}

LinearOp operator_of(const Request& request) {
  const auto known = operators().find(request.name);
  if (known == operators().end()) refuse(fmt::format("operator \"{}\" is none of {}", request.name, names()));
  const bool moves = request.name == "move";
  if (moves == request.out.empty())
    refuse(moves ? "move: give the layout to move to, too"
                 : fmt::format("{}: its result follows from one layout", request.name));
  if (!moves && request.name != "widen" && request.axis.empty())
    refuse(fmt::format("{}: name a mesh axis with --axis", request.name));
  return known->second(layout(request.in), request);
}

int run(const Request& request) {
  const LinearOp op = operator_of(request);
  OpReport report{.forward = direction_of(op), .adjoint = direction_of(op.adjoint())};
  try {
    if (request.check) report.check = check_adjoint(op);
  } catch (const Error& error) {
    if (error.code() != Code::corrupt) throw;
    print(fmt::format("not its adjoint: {}\n", error.what()));
    return kWrong;
  }
  print(request.json ? op_json(report) : op_text(report, request.explain));
  return kDone;
}

}  // namespace

void add_op(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("op", "An operator and its adjoint: layouts, bytes, who sends what to whom");
  const auto request = std::make_shared<Request>();
  command->add_option("name", request->name, "One of " + names())->required()->type_name("NAME");
  command->add_option("in", request->in, "Layout of what it takes, as text")->required()->type_name("LAYOUT");
  command->add_option("out", request->out, "move: layout to move to")->type_name("LAYOUT");
  command->add_option("--axis", request->axis, "Mesh axis it acts along")->type_name("AXIS");
  command->add_option("--dim", request->dim, "Dimension that is cut, gathered or widened (default 0)")->type_name("D");
  command->add_option("--to", request->to, "transpose: dimension that is cut afterwards (default 0)")->type_name("D");
  command->add_option("--from", request->from, "transpose: dimension that is cut before (default 1)")->type_name("D");
  command->add_option("--split", request->split, "How it is cut, as in layouts (default balanced)")->type_name("RULE");
  command->add_option("--lo", request->lo, "widen: ghosts before")->type_name("N");
  command->add_option("--hi", request->hi, "widen: ghosts after")->type_name("N");
  command->add_option("--edge", request->edge, "widen: none, zero, clamp, mirror or periodic (default zero)")
      ->type_name("EDGE");
  command->add_flag("--explain", request->explain, "Every message: ranks, hops, bytes, boxes in their memory");
  command->add_flag("--check", request->check, "Run both on virtual ranks and compare <A x, y> with <x, A* y>");
  command->add_flag("--json", request->json, "Print everything as JSON, with exact numbers");
  command->footer(
      "Exit codes: 0 done, 1 the adjoint is none, 2 no such operator.\nExamples:\n"
      "  reshard op gather_from_copy_to \"f64[10,3] on (x=4) {0: x}\" --axis x --explain\n"
      "  reshard op transpose \"f32[3,5] on (x=2) {1: x:balanced}\" --axis x --to 0 --from 1 --explain --check");
  command->callback([request, &action] { action = [request] { return run(*request); }; });
}

}  // namespace reshard::cli
