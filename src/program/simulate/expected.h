// Compares what a rank holds when its call has ended with what the program expects.
#pragma once

#include <string>

#include "program/simulate/contents.h"

namespace reshard::simulation {

struct Mismatches {
  Index count = 0;
  std::string first = {};  // "rank 0 holds 7 in y[1, 3], expected 9"
};
Mismatches compare_outputs(const Program& program, const std::vector<Expectation>& expectations,
                           const CallInputs& began_with, SimulatedMemory& memory);

// "y[1, 3]": the element at `offset` bytes of a window of `rank`.
std::string element_name(const Program& program, int window, RankId rank, Index offset);

}  // namespace reshard::simulation
