// A program brought to the form in which programs are compared.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

// Names of declarations and lets.
std::set<std::string> names_but_loops(const SymbolicProgram& program);
// Without name, comments and rules, and without declarations that nothing uses; `for v in 0..P { if v != me
// { .. } }` is a loop over peers; loop variables are called after what they run over, by names that are not in `taken`.
SymbolicProgram plain_form(const SymbolicProgram& lowered, const std::set<std::string>& taken);

// Names of a plain form by kind, each kind in order of first use.
struct NamesByUse {
  std::vector<std::string> sizes;
  std::vector<std::string> buffers[4];  // by role
  std::vector<std::string> signals;
  std::vector<std::string> lets;
};
NamesByUse names_by_use(const SymbolicProgram& program);
// `right` with the names of `left`, kind by kind; what is left over keeps its name, or another where that is taken.
SymbolicProgram with_names_of(const SymbolicProgram& left, const SymbolicProgram& right);

}  // namespace reshard
