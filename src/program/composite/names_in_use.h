// Every name of a symbolic program: what is declared, and what loops and lets introduce.
#pragma once

#include <set>
#include <string>

#include "reshard/symbolic.h"

namespace reshard {

std::set<std::string> names_in_use(const SymbolicProgram& program);

}  // namespace reshard
