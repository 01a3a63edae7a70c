// Which statements depend on what memory holds.
#pragma once

#include "program/symbolic/placed.h"

namespace reshard {

// Of a loop or a condition: its bounds or condition alone. Of other statements: any operand, or what a
// message tells.
bool depends_on_memory(const Statement& statement);
// Whether nothing that runs in the loop can change what its statements read: it only puts, notifies and copies to other
// buffers, without a fence. Then all its operands may be read as it begins.
bool may_read_at_once(const For& loop, const PlacedProgram& program, RankId me);

}  // namespace reshard
