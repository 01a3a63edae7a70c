// What is wrong with a program that can be seen without running it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

struct ProgramFault {
  std::string rule;       // "aliasing", "bounds", ..: the name in docs/design/programs.md
  std::string statement;  // quoted, in the text form; empty for a fault of a declaration or of the whole
  std::string message;    // names operands, rank and values, and the fix
  friend bool operator==(const ProgramFault&, const ProgramFault&) = default;
};

struct VerifyProgramOptions {
  std::vector<Index> ranks = {1, 2, 3, 4};  // rules that depend on their number are tried for each
  std::map<std::string, Index> sizes = {};
};

// All static rules (the table in docs/design/programs.md), in the order of the statements; empty: nothing is wrong that
// can be seen so. Only what is certain is a fault. One that shows at several numbers of ranks is listed once, for the
// least, and says at which it does not show.
// Throws Error(invalid_argument) for sizes that the program does not have, and for less than 1 rank.
// Cost: in the number of statements that the ranks run in five calls, at most 100,000 for each number of ranks; rules
// about a whole call say nothing past that.
std::vector<ProgramFault> verify(const SymbolicProgram& program, const VerifyProgramOptions& options = {});

}  // namespace reshard
