// Reads the message of `require`.
#pragma once

#include <string>

#include "program/symbolic/parse_state.h"

namespace reshard {

// A string whose {expressions} can be evaluated where it stands.
std::string parse_message(ParseState& state);

}  // namespace reshard
