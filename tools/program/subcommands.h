// The commands of `reshard program`, each in a file of its own name.
#pragma once

#include "command.h"

namespace reshard::cli {

void add_program_show(CLI::App& program, Action& action);
void add_program_lower(CLI::App& program, Action& action);
void add_program_diff(CLI::App& program, Action& action);
void add_program_verify(CLI::App& program, Action& action);
void add_program_check(CLI::App& program, Action& action);
void add_program_simulate(CLI::App& program, Action& action);
void add_program_run(CLI::App& program, Action& action);

}  // namespace reshard::cli
