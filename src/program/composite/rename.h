// Other names for everything in a symbolic program.
#pragma once

#include <functional>
#include <string>

#include "reshard/symbolic.h"

namespace reshard {

// What a name of a declaration, a loop or a let becomes; `me`, `P` and `call` are not asked for.
using Renaming = std::function<std::string(const std::string& name)>;

Expression renamed(const Expression& expression, const Renaming& to);
// Declarations and statements; rules, messages and arguments of composites stay as they are.
void rename_program(SymbolicProgram& program, const Renaming& to);
void rename_body(Body& body, const Renaming& to);

}  // namespace reshard
