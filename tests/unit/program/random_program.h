// Random symbolic programs: names are declared and in scope, all else is arbitrary.
#pragma once

#include "property/random.h"
#include "reshard/symbolic.h"

namespace reshard {

SymbolicProgram random_program(Random& random);

}  // namespace reshard
