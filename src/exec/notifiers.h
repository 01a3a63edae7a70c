// Whom a rank waited for in vain.
#pragma once

#include <string>

#include "reshard/program.h"

namespace reshard {

// "; `wait ready[2] >= 1` is for rank 2: `notify ready@0[2] = 1`" where operation number `at` of `rank` is a wait: who
// changes the cell in `program`, which has the operations of all ranks in this call. Empty for other operations.
std::string notifiers_of(const Program& program, RankId rank, Index at);

}  // namespace reshard
