// reshard program verify FILE
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "options/number_list.h"
#include "output/numbers.h"
#include "output/output.h"
#include "program/program_flags.h"
#include "program/program_json.h"
#include "program/subcommands.h"
#include "reshard/program_verify.h"

namespace reshard::cli {
namespace {

struct Request {
  FileFlags file;
  SizeFlags sizes;
  std::string ranks = "1,2,3,4";
  bool json = false;
};

std::string faults_json(const SymbolicProgram& program, const std::vector<Index>& ranks,
                        const std::vector<ProgramFault>& faults) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ProgramFault& fault : faults)
    list.push_back({{"rule", fault.rule}, {"statement", fault.statement}, {"message", fault.message}});
  const nlohmann::ordered_json json{{"program", program.name}, {"ranks", ranks}, {"faults", std::move(list)}};
  return json.dump(2) + "\n";
}

std::string faults_text(const SymbolicProgram& program, const std::vector<Index>& ranks,
                        const std::vector<ProgramFault>& faults) {
  const std::string tried = fmt::format("ranks {}", fmt::join(ranks, ", "));
  if (faults.empty()) return fmt::format("{}: no rule is broken ({})\n", program.name, tried);
  std::string text = fmt::format("{}: {} ({})\n", program.name, count_text(std::ssize(faults), "fault"), tried);
  for (const ProgramFault& fault : faults) {
    text += fmt::format("\n{}{}\n", fault.rule, fault.statement.empty() ? "" : ": " + fault.statement);
    text += fmt::format("  {}\n", fault.message);
  }
  return text;
}

int show_faults(const Request& request) {
  const std::vector<Index> ranks = number_list("--ranks", request.ranks, 1);
  const SymbolicProgram program = request.file.load();
  const std::vector<ProgramFault> faults = verify(program, {.ranks = ranks, .sizes = request.sizes.of(program)});
  print(request.json ? faults_json(program, ranks, faults) : faults_text(program, ranks, faults));
  return faults.empty() ? kDone : kWrong;
}

}  // namespace

void add_program_verify(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "verify", "What is wrong with a program, seen without running it: shapes, bounds, buffers, signals");
  const auto request = std::make_shared<Request>();
  request->file.add_to(*command);
  request->sizes.add_to(*command);
  command->add_option("-P,--ranks", request->ranks, "Numbers of ranks to try: 2,3 or 1-4 (1,2,3,4)")->type_name("LIST");
  command->add_flag("--json", request->json, "Print as JSON");
  command->footer(
      "Exit codes: 0 no fault, 1 with faults, 2 no program. The rules are in docs/design/programs.md.\n"
      "Example, in the root of the repository:\n"
      "  reshard program verify examples/ladder/15_all_to_all.rp --mode hand");
  command->callback([request, &action] { action = [request] { return show_faults(*request); }; });
}

}  // namespace reshard::cli
