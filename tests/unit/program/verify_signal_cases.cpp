// Notifications and waits.
#include "verify_cases.h"

namespace reshard {

std::vector<VerifyCase> signal_cases() {
  return {
      {"WaitBelowZero",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= call - 2 }
)",
       {
           {"counters", "wait ready[s] >= call - 2",
            "with P = 2, rank 0: ready is awaited at -1, and counters are unsigned; wait for 0 or more (not seen with "
            "P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= call - 1 }
)"},
      {"SetBelowZero",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] = 0 - call }
for s in peers { wait ready[s] >= 0 }
)",
       {
           {"counters", "notify ready@p[me] = 0 - call",
            "with P = 2, rank 0: ready is set to -1, and counters are unsigned; add -1 instead, with `+=` (not seen "
            "with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] = call }
for s in peers { wait ready[s] >= call }
)"},
      {"SetAndAdd",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= 1 }
for s in peers { notify ready@me[s] = 0 }
)",
       {
           {"mixing", "notify ready@me[s] = 0",
            "with P = 2: ready[1] of rank 0 is set by `notify ready@me[s] = 0` and added to by `notify ready@p[me] += "
            "1`: an addition that comes before the set is lost; use one of `=` and `+=` (not seen with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= 1 }
for s in peers { notify ready@me[s] += -1 }
)"},
      {"OneFlagForAll",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[1]
copy y <- x
for p in peers { notify ready@p[0] = call }
if P > 1 { wait ready[0] >= call }
)",
       {
           {"shared", "notify ready@p[0] = call",
            "with P = 3: ready[0] of rank 0 is set to 1 by rank 1 and by rank 2, so who waits for one may see the "
            "other; give each rank a slot, or add (not seen with P = 1, 2)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[1]
copy y <- x
for p in peers { notify ready@p[0] += 1 }
if P > 1 { wait ready[0] >= call * (P - 1) }
)"},
      {"ConstantFlag",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] = 1 }
for s in peers { wait ready[s] >= 1 }
)",
       {
           {"stale", "wait ready[s] >= 1",
            "with P = 2: ready[1] of rank 0 still holds what `notify ready@p[me] = 1` left in an earlier call, so from "
            "the second use on the wait passes before anybody notifies; set and await a value that grows with `call` "
            "(not seen with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for s in peers { wait ready[s] >= call - 1 }
for p in peers { notify ready@p[me] = call }
)"},
      {"ConstantThreshold",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= 1 }
)",
       {
           {"stale", "wait ready[s] >= 1",
            "with P = 2: ready[1] of rank 0 grows by `notify ready@p[me] += 1` in every call, and what is awaited "
            "grows less or not at all, so later calls pass before anybody notifies; await all that was added, or take "
            "it back (not seen with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
for s in peers { wait ready[s] >= call - 1 }
for p in peers { notify ready@p[me] += 1 }
)"},
      {"TooFewNotifications",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[1]
copy y <- x
for p in peers { notify ready@p[0] += 1 }
wait ready[0] >= call * P - 1
)",
       {
           {"pairing", "wait ready[0] >= call * P - 1",
            "with P = 1: no notification lets ready[0] of rank 0 pass at 1: nobody notifies it; notify that slot as "
            "often as it is awaited, or await less"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[1]
copy y <- x
for p in 0..P { notify ready@p[0] += 1 }
wait ready[0] >= call * P
)"},
      {"WrongNeighbour",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
notify ready@((me + 1) % P)[me] += 1
wait ready[(me + 1) % P] >= call
)",
       {
           {"pairing", "notify ready@((me + 1) % P)[me] += 1",
            "with P = 3: rank 2 notifies ready[2] of rank 0, which never waits for it; wait for it, or drop the "
            "notification (not seen with P = 1, 2)"},
           {"pairing", "wait ready[(me + 1) % P] >= call",
            "with P = 3: no notification lets ready[1] of rank 0 pass at 1: nobody notifies it; notify that slot as "
            "often as it is awaited, or await less (not seen with P = 1, 2)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P]
copy y <- x
notify ready@((me + 1) % P)[me] += 1
wait ready[(me - 1) % P] >= call
)"},
      {"CreditsThatStay",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : credits-1
copy y <- x
for p in peers { notify ready@p[me] += 2 }
for s in peers { wait ready[s] >= 2 }
for s in peers { notify ready@me[s] += -1 }
)",
       {
           {"contract", "notify ready@p[me] += 2",
            "with P = 2: call 1 leaves ready[1] of rank 0 at its start +1, and credits-1 takes counters back to it; "
            "let the rank that waits add -1 at the end (not seen with P = 1)"},
           {"stale", "wait ready[s] >= 2",
            "with P = 2: ready[1] of rank 0 grows by `notify ready@p[me] += 2` in every call, and what is awaited "
            "grows less or not at all, so later calls pass before anybody notifies; await all that was added, or take "
            "it back (not seen with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : credits-1
copy y <- x
for p in peers { notify ready@p[me] += 2 }
for s in peers { wait ready[s] >= 2 }
for s in peers { notify ready@me[s] += -2 }
)"},
      {"EpochThatGrowsUnevenly",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : epoch
copy y <- x
for p in peers { notify ready@p[me] += call }
for s in peers { wait ready[s] >= call * (call + 1) / 2 }
)",
       {
           {"contract", "notify ready@p[me] += call",
            "with P = 2: ready[1] of rank 0 grows by 1 in call 1 and by 2 in call 2, and counters of an epoch grow by "
            "the same in every call; notify alike in all calls (not seen with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : epoch
copy y <- x
for p in peers { notify ready@p[me] += 2 }
for s in peers { wait ready[s] >= call * 2 }
)"},
      {"FourBitsForManyCalls",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : 4 bits
copy y <- x
for p in peers { notify ready@p[me] += 1 }
for s in peers { wait ready[s] >= call }
)",
       {
           {"width", "notify ready@p[me] += 1",
            "with P = 2: ready[1] of rank 0 grows by 1 in every call, and its 4 bits wrap in call 16; declare it as 64 "
            "bits, or take back what was added (not seen with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : 4 bits, credits-1
copy y <- x
barrier(signal = ready)
)"},
      {"TwoBitsForOneCall",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : 2 bits, credits-1
copy y <- x
for p in peers { notify ready@p[me] += 4 }
for s in peers { wait ready[s] >= 4 }
for s in peers { notify ready@me[s] += -4 }
)",
       {
           {"width", "notify ready@p[me] += 4",
            "with P = 2: ready[1] of rank 0 gets to 4 in one call, and 2 bits hold 3 at most; declare it wider (not "
            "seen with P = 1)"},
           {"width", "wait ready[s] >= 4",
            "with P = 2: ready[1] of rank 0 is awaited at 4, and 2 bits hold 3 at most; declare it wider (not seen "
            "with P = 1)"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
signal ready[P] : 3 bits, credits-1
copy y <- x
for p in peers { notify ready@p[me] += 4 }
for s in peers { wait ready[s] >= 4 }
for s in peers { notify ready@me[s] += -4 }
)"},
  };
}

}  // namespace reshard
