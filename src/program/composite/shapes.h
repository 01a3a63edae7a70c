// Shapes of composites: expressions that are compared before anybody says how many ranks there are.
#pragma once

#include <string>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

// Whether there is a number of ranks, up to 64, for which both come to the same with the sizes as declared. What
// depends on loop variables may always. Unrolling decides for the numbers that are really used.
bool may_agree(const SymbolicProgram& program, const std::vector<Expression>& a, const std::vector<Expression>& b);
// Whether they do for every such number.
bool always_agree(const SymbolicProgram& program, const std::vector<Expression>& a, const std::vector<Expression>& b);
// On one of `ranks` ranks, with the sizes as declared. Throws Error(invalid_argument) for other names.
std::vector<Index> shape_on(const SymbolicProgram& program, const std::vector<Expression>& shape, RankId rank,
                            Index ranks);
// [P, n]
std::string shape_text(const std::vector<Expression>& shape);
// The allocation behind a buffer, through views; `name` itself where it is none.
std::string allocation_of(const SymbolicProgram& program, const std::string& name);

}  // namespace reshard
