// Operations that are done when the next one begins: copy, get, reduce, cast, fill.
#pragma once

#include "program/simulate/memory.h"

namespace reshard::simulation {

// Throws Error(invalid_argument) where an operand leaves its window; what comes before has been done then.
void do_local_work(const Operation& operation, RankId rank, SimulatedMemory& memory);

// Rows [first, first + count) of a block of a put of rank `from`, one after the other.
std::vector<std::byte> rows_to_put(const Operation& put, const Block& block, Index first, Index count, RankId from,
                                   SimulatedMemory& memory);
// The same rows, copied or accumulated to where they belong.
void deliver_rows(const Operation& put, const Block& block, Index first, Index count, std::span<const std::byte> rows,
                  SimulatedMemory& memory);

}  // namespace reshard::simulation
