// Roles and dtypes.
#include "verify_cases.h"

namespace reshard {

std::vector<VerifyCase> type_cases() {
  return {
      {"PutIntoOutput",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
for d in 0..P { put y@d[me] <- x[d] }
fence
)",
       {
           {"roles", "put y@d[me] <- x[d]",
            "put writes y@d[me], and peers reach windows only: y is an output; declare it as a window, or stage it in "
            "one"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
signal s[P] : credits-2
for d in 0..P { put data@d[me] <- x[d] }
fence
barrier(signal = s)
copy y <- data
)"},
      {"GetFromInputThroughView",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
view v : f32[n] of x
get y[0] <- v@((me + 1) % P)
)",
       {
           {"roles", "get y[0] <- v@((me + 1) % P)",
            "get reads v@((me + 1) % P), and peers reach windows only: v is an input; declare it as a window, or stage "
            "it in one"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
view v : f32[n] of data
copy data <- x
get y[0] <- v@((me + 1) % P)
)"},
      {"CopyFromPeer",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
copy data <- x
copy y <- data@0
)",
       {
           {"roles", "copy y <- data@0",
            "data@0 is memory of a peer, and only targets of put and sources of get may be; use put or get, or drop "
            "`@0`"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
window data : f32[P, n]
copy data <- x
get y <- data@0
)"},
      {"WriteToInputThroughViews",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
view v : f32[P, n] of x
view w : f32[n] of v
fill w <- 0
copy y <- x
)",
       {
           {"inputs", "fill w <- 0",
            "w is a view of x, an input, which the caller gives and nobody writes; write to a local buffer"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
local v : f32[P, n]
view w : f32[n] of v
copy v <- x
fill w <- 0
copy y <- v
)"},
      {"DtypesDiffer",
       R"(program p
size n = 3
input x : f16[n]
output y : f32[n]
copy y <- x
)",
       {
           {"dtypes", "copy y <- x", "y is f32, x is f16; say `cast` at the end to convert"},
       },
       R"(program p
size n = 3
input x : f16[n]
output y : f32[n]
copy y <- x cast
)"},
      {"AccumulateMaxOfComplex",
       R"(program p
size n = 3
input x : complex64[n]
window data : complex64[n]
put data@0 <- x accumulate max
)",
       {
           {"dtypes", "put data@0 <- x accumulate max",
            "data@0 is complex64, which has no max; use another dtype or operation"},
       },
       R"(program p
size n = 3
input x : complex64[n]
window data : complex64[n]
put data@0 <- x accumulate sum
)"},
      {"AverageOfAverages",
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
fill y <- 0
copy y <- x accumulate avg
)",
       {
           {"dtypes", "copy y <- x accumulate avg",
            "an average of averages is none, so `accumulate avg` has no meaning; accumulate the sum, and divide once"},
       },
       R"(program p
size n = 3
input x : f32[P, n]
output y : f32[P, n]
reduce y <- avg(x, x)
)"},
      {"CountsOfFloats",
       R"(program p
input x : f32[P, 2]
input counts : f32[P]
output y : f32[P, 2]
for j in 0..counts[me] { copy y[j] <- x[j] }
)",
       {
           {"dtypes", "for j in 0..counts[me] { copy y[j] <- x[j] }",
            "counts[me] is f32, and counts and indices are integers; declare counts as i32 or i64"},
       },
       R"(program p
input x : f32[P, 2]
input counts : u8[P]
output y : f32[P, 2]
for j in 0..counts[me] { copy y[j] <- x[j] }
)"},
  };
}

}  // namespace reshard
