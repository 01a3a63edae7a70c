// Composites and their lowering: from one statement to puts, gets, notifications and waits. Text to text.
//
// The composites, their arguments and the contract of each (who may reuse what, when) are in docs/design/composites.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

// Every composite replaced by primitive statements, with fresh names; nothing else is changed, and a program without
// composites is returned as it is: lower(lower(p)) is lower(p).
// Throws Error(invalid_argument) that quotes the composite and names the argument at fault: unknown or missing
// arguments, shapes, dtypes, signals of a wrong shape or protocol, operands that share an allocation. Shapes are
// compared for all numbers of ranks up to 64, and must agree for one of them; unroll() decides for the one that runs.
// Rounds of the `epoch` and `parity` protocols are numbered over all composites of a signal, so several may use one,
// but nothing else; such a composite may stand in loops with bounds over sizes and P, not in an `if`, and one of the
// parity protocol with a target in no loop.
SymbolicProgram lower(const SymbolicProgram& program);

// The names, for help and completion, in alphabetical order.
std::vector<std::string_view> composite_names();

// How two programs differ, once composites are lowered, comments, rules and unused declarations left out, and names
// matched: kind by kind in order of first use. `for v in 0..P { if v != me { .. } }` counts as a loop over peers.
struct ProgramDifference {
  bool same = false;  // nothing but names differs
  // The same sequence of put, get, fence, notify and wait; at the end, either may have more that concerns no peer: the
  // read-back of a window, credits that are taken back.
  bool same_phases = false;
  std::vector<std::string> left_phases;  // "put each rank", "fence", "notify each peer", ..
  std::vector<std::string> right_phases;
  // Unified: lines of both behind "  ", of the left behind "- ", of the right behind "+ ".
  std::string text;
  // In words: "the same phases; left ends with: copy each rank".
  std::string summary;
};
// Throws as lower() does. Cost: the product of the lengths of both texts.
ProgramDifference diff(const SymbolicProgram& left, const SymbolicProgram& right);

}  // namespace reshard
