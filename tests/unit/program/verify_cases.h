// Programs with one mistake each, what is said about it, and a near miss that has none.
#pragma once

#include <string>
#include <vector>

#include "reshard/program_verify.h"

namespace reshard {

struct VerifyCase {
  std::string name;
  std::string faulty;
  std::vector<ProgramFault> faults;
  std::string near_miss;
};

std::vector<VerifyCase> structure_cases();
std::vector<VerifyCase> type_cases();
std::vector<VerifyCase> memory_cases();
std::vector<VerifyCase> signal_cases();

}  // namespace reshard
