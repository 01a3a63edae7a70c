// What a program does, in words.
#pragma once

#include <string>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

struct Phase {
  std::string text;       // "put each rank"
  bool is_local = false;  // reaches no peer and waits for none
  friend bool operator==(const Phase&, const Phase&) = default;
};

// Of a plain form. Neighbours of one text are one phase.
std::vector<Phase> phases_of(const SymbolicProgram& program);

}  // namespace reshard
