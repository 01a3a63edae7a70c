// reshard program lower FILE
#include "reshard/lower.h"

#include <memory>

#include "output/output.h"
#include "program/program_flags.h"
#include "program/program_json.h"
#include "program/subcommands.h"
#include "reshard/program_text.h"

namespace reshard::cli {
namespace {

struct Request {
  FileFlags file;
  std::string out = "-";
  bool json = false;
};

int write_lowered(const Request& request) {
  const SymbolicProgram lowered = lower(request.file.load());
  const std::string text = request.json ? program_json(lowered).dump(2) + "\n" : text_of(lowered);
  request.out == "-" ? print(text) : write_file(request.out, text);
  return kDone;
}

std::string names_of_composites() {
  std::string names;
  for (const std::string_view name : composite_names()) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace

void add_program_lower(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("lower", "The program with its composites written out as puts, notifications and waits");
  const auto request = std::make_shared<Request>();
  request->file.add_to(*command);
  command->add_option("-o,--out", request->out, "Write there; - prints (-)")->type_name("FILE");
  command->add_flag("--json", request->json, "As JSON");
  command->footer("Composites: " + names_of_composites() +
                  ".\nExample, in the root of the repository:\n"
                  "  reshard program lower examples/ladder/15_all_to_all.rp --mode builtin");
  command->callback([request, &action] { action = [request] { return write_lowered(*request); }; });
}

}  // namespace reshard::cli
