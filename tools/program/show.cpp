// reshard program show FILE
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "options/number_list.h"
#include "options/whole_number.h"
#include "output/output.h"
#include "program/operation_words.h"
#include "program/program_flags.h"
#include "program/program_json.h"
#include "program/subcommands.h"
#include "reshard/error.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"
#include "reshard/unroll.h"

namespace reshard::cli {
namespace {

struct Request {
  FileFlags file;
  SizeFlags sizes;
  Index ranks = 0, call = 1;
  std::string only;
  bool json = false;
};

std::vector<RankId> shown_ranks(const Request& request) {
  std::vector<RankId> ranks;
  if (request.only.empty()) {
    for (RankId rank{0}; rank < RankId(request.ranks); ++rank) ranks.push_back(rank);
    return ranks;
  }
  for (const Index rank : number_list("--rank", request.only)) {
    if (rank >= request.ranks)
      throw Error(Code::invalid_argument, fmt::format("--rank {}: the program is unrolled for {} ranks, 0 to {}",
                                                      request.only, request.ranks, request.ranks - 1));
    ranks.emplace_back(rank);
  }
  return ranks;
}

std::string operations_text(const Program& program, const std::vector<RankId>& ranks, Index call) {
  std::string text = fmt::format("{}: {}, call {}\n", program.name,
                                 program.ranks == 1 ? "1 rank" : fmt::format("{} ranks", program.ranks), call);
  for (const RankId rank : ranks) {
    text += fmt::format("\nrank {}\n", rank.value());
    Index number = 0;
    for (const Operation& operation : program.operations[static_cast<std::size_t>(rank.value())])
      text += fmt::format("  {:>3}  {}\n", number++, line_of(program, operation));
  }
  return text;
}

int show_operations(const Request& request, const SymbolicProgram& program) {
  const std::vector<RankId> ranks = shown_ranks(request);
  const Program unrolled =
      unroll(lower(program), {.ranks = request.ranks, .sizes = request.sizes.of(program), .call = request.call});
  if (!request.json) {
    print(operations_text(unrolled, ranks, request.call));
    return kDone;
  }
  const nlohmann::ordered_json json{{"program", unrolled.name},
                                    {"ranks", request.ranks},
                                    {"call", request.call},
                                    {"operations", operations_json(unrolled, ranks)}};
  print(json.dump(2) + "\n");
  return kDone;
}

int show(const Request& request) {
  const SymbolicProgram program = request.file.load();
  if (request.ranks > 0) return show_operations(request, program);
  if (!request.only.empty() || !request.sizes.settings.empty() || request.call != 1)
    throw Error(Code::invalid_argument,
                "--rank, --call and --set go with --ranks: the text form is of any rank, call and size");
  print(request.json ? program_json(program).dump(2) + "\n" : text_of(program));
  return kDone;
}

}  // namespace

void add_program_show(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "show", "The canonical text of a program; with --ranks what each rank does, one operation a line");
  const auto request = std::make_shared<Request>();
  request->file.add_to(*command);
  request->sizes.add_to(*command);
  command->add_option("-P,--ranks", request->ranks, "Unroll, composites lowered, for so many ranks")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_option("--rank", request->only, "Only these ranks: 0,2 or 0-3")->type_name("LIST");
  command->add_option("--call", request->call, "Of this call, counted from 1 (1)")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_flag("--json", request->json, "Print as JSON");
  command->footer(
      "Examples, in the root of the repository:\n"
      "  reshard program show examples/ladder/15_all_to_all.rp --mode builtin\n"
      "  reshard program show examples/ladder/15_all_to_all.rp --mode hand --ranks 3 --rank 1 --call 2");
  command->callback([request, &action] { action = [request] { return show(*request); }; });
}

}  // namespace reshard::cli
