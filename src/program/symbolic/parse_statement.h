// Reads statements.
#pragma once

#include "program/symbolic/parse_state.h"

namespace reshard {

// Up to the end of the text.
Body parse_statements(ParseState& state);

}  // namespace reshard
