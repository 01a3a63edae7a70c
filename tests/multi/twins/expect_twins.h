// Two programs on one world, call by call.
#pragma once

#include "program/every_world.h"
#include "twins/twin_files.h"

namespace reshard::multi {

using Sizes = std::map<std::string, Index>;

// Outputs are what both programs expect, and the same byte for byte.
void expect_twins(World& world, const TwinPair& pair, const Sizes& hand, const Sizes& builtin, int calls = 3);

}  // namespace reshard::multi
