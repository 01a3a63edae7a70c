// reshard program COMMAND FILE
#include "command.h"

#include "program/subcommands.h"

namespace reshard::cli {
namespace {

constexpr void (*kCommands[])(CLI::App&, Action&) = {
    add_program_show,  add_program_lower,    add_program_diff, add_program_verify,
    add_program_check, add_program_simulate, add_program_run,
};

}  // namespace

void add_program(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "program", "One-sided programs (.rp files): show, lower, diff, verify, check every interleaving, simulate, run");
  command->require_subcommand(1);
  for (const auto add : kCommands) add(*command, action);
  command->footer(
      "Exit codes: 0 done, 1 different, faulty or wrong, 2 bad usage or input. Each command has a --help of its own.\n"
      "Examples, in the root of the repository:\n"
      "  reshard program show examples/ladder/15_all_to_all.rp --mode builtin\n"
      "  reshard program check examples/ladder/15_all_to_all.rp --mode hand -P 3 --calls 2");
}

}  // namespace reshard::cli
