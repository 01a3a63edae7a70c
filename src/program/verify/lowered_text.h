// The program without composites, where every statement still says which one of the text it comes from.
#pragma once

#include <optional>
#include <set>

#include "program/verify/fault_list.h"

namespace reshard {

struct LoweredText {
  SymbolicProgram program = {};
  std::set<std::size_t> opaque = {};   // composites that could not be lowered: what they do is unknown
  std::set<std::size_t> skipped = {};  // all statements with faults
};

// Adds a fault of the rule `composite` for each composite that cannot be lowered. Composites with faults stay opaque.
LoweredText lowered(const VerifyText& text, FaultList& faults);
// The number of the statement that the statements behind this comment come from.
std::optional<std::size_t> origin_in(const Comment& comment);

}  // namespace reshard
