// Places in memory, and the order of writes and reads.
#include "verify_cases.h"

namespace reshard {

std::vector<VerifyCase> memory_cases() {
  return {
      {"ViewTooLongForThreeRanks",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[3 * n]
view v : f32[n] of data at 4 * n * (P - 1)
copy v <- x[0]
copy y[0] <- v
)",
       {
           {"placement", "",
            "with P = 4: view v is bytes [36, 48) of data, which has 36 on rank 0; correct the declaration, or require "
            "another P (not seen with P = 1, 2, 3)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P * n]
view v : f32[n] of data at 4 * n * (P - 1)
copy v <- x[0]
copy y[0] <- v
)"},
      {"DivisionByZero",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
for d in 0..n / (P - 1) { copy y[0] <- x[0] }
)",
       {
           {"values", "for d in 0..n / (P - 1) { copy y[0] <- x[0] }",
            "with P = 1, rank 0: `n / (P - 1)` is a division by zero for 3 and 0; correct it, or require another P "
            "(not seen with P = 2, 3, 4)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
require P > 1, "two ranks at least"
for d in 0..n / (P - 1) { copy y[0] <- x[0] }
)"},
      {"RowBeyondTheLast",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
copy y[me] <- x[me + 1]
)",
       {
           {"bounds", "copy y[me] <- x[me + 1]",
            "with P = 1, rank 0: 1 of dimension 0 of x is outside [0, 1) on rank 0; stay inside, or declare x larger"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
copy y[me] <- x[(me + 1) % P]
)"},
      {"OnlyWithThreeRanks",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
copy y[0] <- x[0, 0..pick(P, 0, 3, 3, 4, 3)]
)",
       {
           {"bounds", "copy y[0] <- x[0, 0..pick(P, 0, 3, 3, 4, 3)]",
            "with P = 3, rank 0: 0..4 of dimension 1 of x is outside [0, 3) on rank 0; stay inside, or declare x "
            "larger (not seen with P = 1, 2, 4)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
copy y[0, 0..P - 1] <- x[0, 0..P - 1]
)"},
      {"PeerBeyondTheLast",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]
copy data <- x
notify ready@(me + 1)[me] += 1
wait ready[(me - 1) % P] >= call
copy y <- data
)",
       {
           {"bounds", "notify ready@(me + 1)[me] += 1",
            "with P = 1, rank 0: `me + 1` is rank 1, outside [0, 1); name a rank that exists, or require another P"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]
copy data <- x
notify ready@((me + 1) % P)[me] += 1
wait ready[(me - 1) % P] >= call
copy y <- data
)"},
      {"SlotBeyondTheLast",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[2]
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= call }
)",
       {
           {"bounds", "notify ready@p[me] += 1",
            "with P = 3, rank 2: index 2 of dimension 0 of signal ready is outside [0, 2); stay inside, or declare "
            "ready larger (not seen with P = 1, 2)"},
           {"bounds", "wait ready[s] >= call",
            "with P = 3, rank 0: index 2 of dimension 0 of signal ready is outside [0, 2); stay inside, or declare "
            "ready larger (not seen with P = 1, 2)"},
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
      {"ShapesDiffer",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
copy y[0, 0..2] <- x[0]
)",
       {
           {"shapes", "copy y[0, 0..2] <- x[0]",
            "with P = 1, rank 0: y[0, 0..2] has shape [2], x[0] has [3]; they must agree: select as many elements on "
            "both sides of `<-`"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
copy y[0, 0..2] <- x[0, 1..3]
)"},
      {"OverlapThroughThreeViews",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[4 * n]
view a : f32[3 * n] of data at 4 * n
view b : f32[2 * n] of a
view c : f32[n] of b at 4
for d in 0..P { copy data[0..n] <- x[d] }
copy data[n..2 * n] <- c
copy y[0] <- c
)",
       {
           {"aliasing", "copy data[n..2 * n] <- c",
            "with P = 1, rank 0: target data[3..6] and source c share bytes of data; go through a local buffer"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[4 * n]
view a : f32[3 * n] of data at 4 * n
view b : f32[2 * n] of a
view c : f32[n] of b at 4 * n
for d in 0..P { copy data[0..n] <- x[d] }
copy data[n..2 * n] <- c
copy y[0] <- c
)"},
      {"ReduceOverItsTermShifted",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[2 * n]
copy data[0..n] <- x[0]
fill data[n..2 * n] <- 1
reduce data[1..n + 1] <- sum(data[0..n], data[n..2 * n])
copy y[0] <- data[0..n]
)",
       {
           {"aliasing", "reduce data[1..n + 1] <- sum(data[0..n], data[n..2 * n])",
            "with P = 1, rank 0: target data[1..4] and term data[0..3] share bytes of data; go through a local buffer"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[2 * n]
copy data[0..n] <- x[0]
fill data[n..2 * n] <- 1
reduce data[0..n] <- sum(data[0..n], data[n..2 * n])
copy y[0] <- data[0..n]
)"},
      {"PutThatMeetsItsSource",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[2 * n]
signal s[P]
copy data[0..n] <- x[0]
fill data[n..2 * n] <- 1
barrier(signal = s)
put data@((me + 1) % P)[0..n] <- data[1..n + 1]
fence
barrier(signal = s)
copy y[0] <- data[0..n]
)",
       {
           {"aliasing", "put data@((me + 1) % P)[0..n] <- data[1..n + 1]",
            "with P = 1, rank 0: target data@0[0..3] and source data[1..4] share bytes of data; go through a local "
            "buffer (not seen with P = 2, 3, 4)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[2 * n]
signal s[P]
copy data[0..n] <- x[0]
fill data[n..2 * n] <- 1
barrier(signal = s)
put data@((me + 1) % P)[0..n] <- data[n..2 * n]
fence
barrier(signal = s)
copy y[0] <- data[0..n]
)"},
      {"CopyOntoItself",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
local t : f32[P, n]
view v : f32[P, n] of t
copy t <- x
copy t <- v
copy y <- t
)",
       {
           {"aliasing", "copy t <- v", "target t and source v are always the same bytes; name two buffers, or drop it"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
local t : f32[P, n]
copy t <- x
for s in 0..P { copy t[s] <- t[0] }
copy y <- t
)"},
      {"OutputReadBeforeItIsWritten",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
local t : f32[n]
copy t <- y[0]
copy y <- x
copy y[0] <- t
)",
       {
           {"unwritten", "copy t <- y[0]",
            "with P = 1, rank 0: y[0] is read, and no statement before has written it in this call; fill it first, or "
            "use a window, which is kept"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
local t : f32[n]
copy y <- x
copy t <- y[0]
copy y[0] <- t
)"},
      {"CountBeforeItIsWritten",
       R"(program p
input x : i32[4]
output y : i32[4]
local k : i32[1]
for j in 0..k[0] { copy y[j] <- x[j] }
copy k <- x[0..1]
)",
       {
           {"unwritten", "for j in 0..k[0] { copy y[j] <- x[j] }",
            "with P = 1, rank 0: k is read, and no statement before has written it in this call; fill it first, or use "
            "a window, which is kept"},
       },
       R"(program p
input x : i32[4]
output y : i32[4]
local k : i32[1]
copy k <- x[0..1]
for j in 0..k[0] { copy y[j] <- x[j] }
)"},
      {"RequireOfSomeRanks",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
require me < 3, "few ranks"
copy y <- x
)",
       {
           {"verdict", "require me < 3, \"few ranks\"",
            "with P = 4: it fails on rank 3 and not on rank 0, which would wait for it; require what is the same on "
            "all ranks (not seen with P = 1, 2, 3)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
require P < 4, "few ranks"
copy y <- x
)"},
      {"NotifyBeforeFence",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]
for d in peers { put data@d[me] <- x[d] }
for p in peers { notify ready@p[me] += 1 }
fence
for s in peers { wait ready[s] >= call }
copy y <- data
)",
       {
           {"fence", "put data@d[me] <- x[d]",
            "with P = 2, rank 0: nothing makes data@1[0] visible on rank 1 before `notify ready@p[me] += 1` tells of "
            "it; place a `fence` between them (not seen with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal room[P]
signal ready[P]
for d in peers { put data@d[me] <- x[d] }
for p in peers { notify room@p[me] += 1 }
fence
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait room[s] >= call }
for s in peers { wait ready[s] >= call }
copy y <- data
)"},
      {"PutBeforeBarrierWithoutFence",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]
for d in peers { put data@d[me] <- x[d] }
barrier(signal = ready)
copy y <- data
)",
       {
           {"fence", "put data@d[me] <- x[d]",
            "with P = 2, rank 0: nothing makes data@1[0] visible on rank 1 before `barrier(signal = ready)` tells of "
            "it; place a `fence` between them (not seen with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal ready[P]
for d in peers { put data@d[me] <- x[d] }
fence
barrier(signal = ready)
copy y <- data
)"},
      {"PutToSelfWithoutFence",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
put data@me[me] <- x[me]
copy y <- data
)",
       {
           {"fence", "put data@me[me] <- x[me]",
            "with P = 1, rank 0: what it puts into its own data@0[0] is read by `copy y <- data` without a fence "
            "between them; place a `fence`, or copy"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
put data@me[me] <- x[me]
fence
copy y <- data
)"},
      {"TwoKindsOfAccumulation",
       R"(program p
size n = 3
input x : i32[n]
output y : i32[n]
window data : i32[n]
put data@me <- x accumulate sum
put data@me <- x accumulate max
fence
copy y <- data
)",
       {
           {"fence", "put data@me <- x accumulate sum",
            "with P = 1, rank 0: what it puts into its own data@0 is read by `put data@me <- x accumulate max` without "
            "a fence between them; place a `fence`, or copy"},
       },
       R"(program p
size n = 3
input x : i32[n]
output y : i32[n]
window data : i32[n]
put data@me <- x accumulate sum
put data@me <- x accumulate sum
fence
copy y <- data
)"},
      {"PutBeyondTheLast",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
copy data <- x
put data@(me + 1)[me] <- x[me]
fence
copy y <- data
)",
       {
           {"bounds", "put data@(me + 1)[me] <- x[me]",
            "with P = 1, rank 0: `me + 1` is rank 1, outside [0, 1); name a rank that exists, or require another P"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
copy data <- x
put data@((me + 1) % P)[me] <- x[me]
fence
copy y <- data
)"},
  };
}

}  // namespace reshard
