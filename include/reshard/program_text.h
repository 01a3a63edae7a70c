// The text form of symbolic programs, files named *.rp. Grammar: docs/design/programs.md.
#pragma once

#include <string>
#include <string_view>

#include "reshard/symbolic.h"

namespace reshard {

// Throws Error(invalid_argument) that names `source` (a file), line and column, and says what was expected there.
SymbolicProgram parse_program(std::string_view text, std::string_view source = "program");
// An expression alone; names followed by [..] are elements of buffers.
Expression parse_expression(std::string_view text);
// Parses back to a program with the same text. Stable: one statement a line, two spaces a level.
std::string text_of(const SymbolicProgram& program);
std::string text_of(const Statement& statement);
std::string text_of(const BufferSlice& slice);
std::string text_of(const Slot& slot);

std::string_view name_of(Protocol protocol);
std::string_view name_of(BufferRole role);

}  // namespace reshard
