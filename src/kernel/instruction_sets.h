// The instruction sets that vector kernels can use on this processor, for tests and benchmarks.
#pragma once

#include <string>
#include <vector>

namespace reshard::kernel {

// Best first; the last, "none", is the code without vectors, which every other must equal bit by bit.
std::vector<std::string> instruction_sets();

// Kernels made from now on use this set, a name of the list; "" is the best. Of the whole process and for tests:
// confined.
void use_instruction_set(const std::string& name);

}  // namespace reshard::kernel
