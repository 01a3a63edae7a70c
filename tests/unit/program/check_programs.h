// Programs of all-to-all kind for the tests of the checker: everybody's row goes to everybody.
#pragma once

#include <string>

#include "reshard/check.h"
#include "reshard/program_text.h"

namespace reshard {

// Declarations, `signals` among them, then `body`. One window of P rows, or two that take turns.
inline SymbolicProgram exchange(const std::string& signals, const std::string& body, bool two_windows = false) {
  return parse_program("program exchange\nsize n = 1\ninput x : f32[P, n]\noutput y : f32[P, n]\nwindow data : f32[" +
                       std::string(two_windows ? "2, " : "") + "P, n]\n" + signals + "\nexpect y[k, j] = x@k[me, j]\n" +
                       body);
}

inline const std::string kPut = "for d in 0..P { put data@d[me] <- x[d] }\n";
inline const std::string kRead = "for k in 0..P { copy y[k] <- data[k] }\n";
inline const std::string kPutInTurn = "for d in 0..P { put data@d[call % 2, me] <- x[d] }\n";
inline const std::string kReadInTurn = "for k in 0..P { copy y[k] <- data[call % 2, k] }\n";

// The lists of each call, as the checker makes them; without contents, so without operations that read memory.
inline CheckInput lists_of(const SymbolicProgram& program, Index ranks, Index calls) {
  CheckInput input;
  for (Index call = 1; call <= calls; ++call) {
    input.calls.push_back(unroll(program, {.ranks = ranks, .call = call}));
    input.expect.push_back(expectations(program, {.ranks = ranks, .call = call}));
  }
  return input;
}

}  // namespace reshard
