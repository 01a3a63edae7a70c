// Reads what statements name: parts of buffers, slots of signals, arguments of composites.
#pragma once

#include <vector>

#include "program/symbolic/parse_state.h"

namespace reshard {

BufferSlice parse_slice(ParseState& state);
Slot parse_slot(ParseState& state);
// "a = x, b = 3)" behind the parenthesis.
std::vector<Argument> parse_arguments(ParseState& state);

}  // namespace reshard
