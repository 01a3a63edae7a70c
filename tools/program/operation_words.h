// Operations of unrolled programs in words.
#pragma once

#include <string>
#include <string_view>

#include "reshard/program.h"

namespace reshard::cli {

std::string_view word_of(OpCode code);
// As its author wrote it, in one line.
std::string line_of(const Program& program, const Operation& operation);
Index bytes_moved(const Operation& operation);

}  // namespace reshard::cli
