// Numbers the rounds of signals that only grow, over all composites of a program.
#pragma once

#include <map>
#include <string>

#include "program/composite/rounds.h"

namespace reshard {

// By signal.
using RoundCounts = std::map<std::string, Expression>;

// How often a loop runs.
Expression trips_of(const For& loop);
// Of rounds, `a` and then `b`; `times` over.
RoundCounts joined(const RoundCounts& a, const RoundCounts& b);
RoundCounts repeated(const RoundCounts& counts, const Expression& times);

// Rounds on signals that only grow, of one run of `body`. Throws Error(invalid_argument) where they cannot be numbered:
// under `if`, in loops over peers, and where bounds of loops are no expressions of sizes and P.
RoundCounts rounds_of(const SymbolicProgram& program, const Body& body);

// Throws Error(invalid_argument) where one signal is used by composites of protocols that grow and that do not, or by
// composites that number its rounds and by other statements, or by two composites of the parity protocol.
void check_signal_users(const SymbolicProgram& program);

}  // namespace reshard
