// Programs as people write them by hand.
#pragma once

#include "reshard/builder.h"

namespace reshard::multi {

// Row d of x goes to rank d, through a window that is read out before it is written again: two rounds.
// Counters go back to 0 with every call.
SymbolicProgram all_to_all_by_credits();
// Counters grow by one with every call.
SymbolicProgram all_to_all_by_epochs();
// Two windows in turn, one round.
SymbolicProgram all_to_all_by_parity();
// y of each rank is x of its left neighbour.
SymbolicProgram ring_shift();
// The same by way of a window of another dtype, pushed and pulled; each casts on its way. Pulled values are added to
// ones.
SymbolicProgram ring_shift_through(Dtype narrow);
// y of all ranks is x of rank P / 2, which they get from there.
SymbolicProgram broadcast_by_get();
// y of rank 0 is the sum of all x.
SymbolicProgram sum_by_accumulate(Dtype dtype);
// counts[d] rows of x, picked by index[d, ..], go to rank d; what lies behind them there is left alone.
SymbolicProgram indexed_rows();
// A barrier, and nothing else.
SymbolicProgram barrier_alone();

}  // namespace reshard::multi
