// Every interleaving of a small program, one by one, with every put read and written late: slow and obvious. It shares
// nothing with the checker but the lists of operations.
//
// A put is two steps of its own, to read its source and to write its target, any time after it was issued. A fence
// lasts until its rank's puts are written, a call until they are read. Everything else is one step.
#pragma once

#include <set>
#include <string>

#include "reshard/check.h"

namespace reshard {

struct OracleVerdict {
  // `race`: two steps that both could be next, one of which writes what the other reaches.
  std::set<CheckFault> faults = {};
  bool complete = true;
  Index states = 0;
};

// Copies, puts, gets, notifications, waits and fences of elements of 4 bytes; expectations of inputs.
OracleVerdict explore_naively(const CheckInput& input, Index max_states);

}  // namespace reshard
