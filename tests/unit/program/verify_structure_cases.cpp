// What is never used, never reached, or reached by some; who may use a signal.
#include "verify_cases.h"

namespace reshard {

std::vector<VerifyCase> structure_cases() {
  return {
      {"EveryNumberOfRanksRefused",
       R"(program p
size n = 3
input x : f32[n]
output y : f32[n]
require P > 9, "many ranks only"
copy y <- x
)",
       {
           {"verdict", "",
            "require refuses every number of ranks that was tried (1, 2, 3, 4), so nothing was looked at; try others"},
       },
       R"(program p
size n = 3
input x : f32[n]
output y : f32[n]
require P > 3, "four ranks and more"
copy y <- x
)"},
      {"UnusedWindow",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
copy y <- x
)",
       {
           {"unused", "", "window data is never used; drop it"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
view v : f32[n] of x
local t : f32[n]
copy t <- v
for d in 0..P { copy y[d] <- t }
)"},
      {"OutputNeverWritten",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
local t : f32[P, n]
copy t <- x
copy t <- y
)",
       {
           {"unused", "", "output y is never written; write it, or drop it"},
           {"unwritten", "copy t <- y",
            "with P = 1, rank 0: y is read, and no statement before has written it in this call; fill it first, or use "
            "a window, which is kept"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
view v : f32[P, n] of y
copy v <- x
)"},
      {"SignalNobodyAwaits",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
signal idle[P]
copy y <- x
for p in peers { notify ready@p[me] += 1 }
)",
       {
           {"signals", "",
            "signal ready is notified, and nobody waits for it; wait before what it announces is used, or drop it"},
           {"signals", "", "signal idle is never used; drop it"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= call }
)"},
      {"SignalNobodyNotifies",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for s in peers { wait ready[s] >= 0 }
)",
       {
           {"signals", "", "signal ready is awaited, and nobody notifies it; notify it"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
barrier(signal = ready)
)"},
      {"LoopDownwards",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
for d in P..0 { copy y[d] <- x[d] }
for d in 0..P { copy y[d] <- x[d] }
)",
       {
           {"unreachable", "for d in P..0 { copy y[d] <- x[d] }",
            "P..0 is empty on every rank of every P; a range goes up, and ends before its second bound"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
for d in 1..P { copy y[d] <- x[d] }
for c in 1..n / 64 { copy y <- x }
)"},
      {"ConditionThatNeverHolds",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
if me >= P { copy y <- x } else { copy y <- x }
)",
       {
           {"unreachable", "if me >= P { copy y <- x } else { copy y <- x }",
            "the condition holds on no rank of any P; drop the block, or correct it"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
if P > 16 && me == 17 { copy y <- x } else { copy y <- x }
if me > 0 { copy y <- x }
)"},
      {"CompositeOfSomeRanks",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P] : credits-2
let root = me % 2
if root == 0 { all_to_all(input = x, target = data, signal = ready) }
copy y <- data
)",
       {
           {"divergent", "all_to_all(input = x, target = data, signal = ready)",
            "all ranks must take part in all_to_all, and `if root == 0` may differ from rank to rank; move it out"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P] : credits-2
if n > 2 && P > 1 { all_to_all(input = x, target = data, signal = ready) }
copy y <- data
)"},
      {"CompositeInLoopFromMemory",
       R"(program p
window data : i32[P]
input k : i32[1]
output y : i32[P]
signal ready[P] : credits-2
for i in 0..k[0] { barrier(signal = ready) }
fill data <- 1
copy y <- data
)",
       {
           {"divergent", "barrier(signal = ready)",
            "all ranks must take part in barrier, and `for i in 0..k[0]` may differ from rank to rank; move it out"},
       },
       R"(program p
window data : i32[P]
output y : i32[P]
signal ready[P] : credits-2
for i in 0..3 { barrier(signal = ready) }
fill data <- 1
copy y <- data
)"},
      {"HandOnCountedSignal",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
barrier(signal = ready)
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= 2 * call }
)",
       {
           {"owner", "barrier(signal = ready)",
            "barrier counts all rounds on signal ready, and `notify ready@p[me] += 1` changes or awaits it by hand; "
            "give one of them a signal of its own"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : credits-2
barrier(signal = ready)
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= 1 }
for s in peers { notify ready@me[s] += -1 }
)"},
      {"TwoProtocols",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
barrier(signal = ready, protocol = credits-1)
barrier(signal = ready, protocol = credits-2)
copy y <- x
)",
       {
           {"protocols", "barrier(signal = ready, protocol = credits-2)",
            "barrier uses signal ready by credits-2, and barrier by credits-1; give each a signal of its own"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
barrier(signal = ready, protocol = credits-1)
barrier(signal = ready, protocol = credits-1)
copy y <- x
)"},
      {"RingAndMesh",
       R"(program p
size n = 3
input x : f32[n]
window data : f32[n]
window other : f32[n]
signal ready[2]
copy data <- x
copy other <- x
all_reduce(target = data, signal = ready, op = sum, mode = ring)
all_reduce(target = other, signal = ready, op = sum, mode = mesh)
)",
       {
           {"protocols", "all_reduce(target = other, signal = ready, op = sum, mode = mesh)",
            "all_reduce uses signal ready as a mesh, and all_reduce as a ring; give each a signal of its own"},
       },
       R"(program p
size n = 3
input x : f32[n]
window data : f32[n]
window other : f32[n]
signal ready[2]
copy data <- x
copy other <- x
all_reduce(target = data, signal = ready, op = sum, mode = ring)
all_reduce(target = other, signal = ready, op = sum, mode = ring)
)"},
      {"CompositeOnOneAllocation",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
view v : f32[P, n] of data
view w : f32[P, n] of v
signal ready[P]
copy data <- x
all_to_all(input = w, target = data, signal = ready)
copy y <- data
)",
       {
           {"composite", "all_to_all(input = w, target = data, signal = ready)",
            "input (w) and target (data) share the allocation data; give each its own"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]
all_to_all(input = x, target = data, signal = ready)
copy y <- data
)"},
  };
}

}  // namespace reshard
