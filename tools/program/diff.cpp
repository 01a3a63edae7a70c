// reshard program diff LEFT [RIGHT]
#include <fmt/format.h>

#include <memory>

#include "output/output.h"
#include "output/table.h"
#include "program/line_diff.h"
#include "program/program_flags.h"
#include "program/program_json.h"
#include "program/subcommands.h"
#include "reshard/error.h"
#include "reshard/lower.h"

namespace reshard::cli {
namespace {

struct Request {
  std::string left, right;
  std::string color = "auto";
  bool phases = false, json = false;
};

std::string phases_text(const ProgramDifference& difference) {
  Table table({"left", "", "right"});
  for (const auto& [side, phase] : aligned_lines(difference.left_phases, difference.right_phases))
    table.row({side == '>' ? "" : phase, std::string(1, side), side == '<' ? "" : phase});
  return table.text(2);
}

std::string difference_text(const Request& request, const ProgramDifference& difference) {
  std::string text =
      fmt::format("- {}\n+ {}\n\n{}\n\n{}", request.left, request.right, difference.summary, phases_text(difference));
  if (!difference.same) text += "\n" + coloured_diff(difference.text, in_colour(colour_named(request.color)));
  return text;
}

std::string difference_json(const Request& request, const ProgramDifference& difference) {
  const nlohmann::ordered_json json{{"left", request.left},
                                    {"right", request.right},
                                    {"same", difference.same},
                                    {"same_phases", difference.same_phases},
                                    {"summary", difference.summary},
                                    {"left_phases", difference.left_phases},
                                    {"right_phases", difference.right_phases},
                                    {"text", difference.text}};
  return json.dump(2) + "\n";
}

int show_difference(Request request) {
  if (request.right.empty()) {
    if (request.left == "-")
      throw Error(Code::invalid_argument, "one file is compared as NAME.hand.rp with NAME.builtin.rp; give its name");
    request.right = path_in_mode(request.left, "builtin");
    request.left = path_in_mode(request.left, "hand");
  }
  if (request.left == "-" && request.right == "-")
    throw Error(Code::invalid_argument, "standard input can be one of the two programs, not both");
  const ProgramDifference difference = diff(load_program(request.left), load_program(request.right));
  print(request.json ? difference_json(request, difference) : difference_text(request, difference));
  return (request.phases ? difference.same_phases : difference.same) ? kDone : kWrong;
}

}  // namespace

void add_program_diff(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "diff", "How two programs differ, composites lowered and names matched: phases, then lines");
  const auto request = std::make_shared<Request>();
  command
      ->add_option("left", request->left,
                   "A program; alone: NAME.hand.rp against NAME.builtin.rp; - for standard input")
      ->required()
      ->type_name("LEFT");
  command->add_option("right", request->right, "The program to compare it with")->type_name("RIGHT");
  command->add_flag("--phases", request->phases, "Exit 0 when the phases are the same, whatever the lines are");
  command->add_option("--color", request->color, "Colour: auto, always or never (auto)")->type_name("WHEN");
  command->add_flag("--json", request->json, "Print as JSON");
  command->footer(
      "Exit codes, as of diff(1): 0 the same, 1 different, 2 no programs. Names and the order of loops over peers make "
      "no\n"
      "difference.\nExample, in the root of the repository:\n"
      "  reshard program diff examples/ladder/15_all_to_all.rp --phases");
  command->callback([request, &action] { action = [request] { return show_difference(*request); }; });
}

}  // namespace reshard::cli
