// Lists of numbers on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"

namespace reshard::cli {

// "0,2,4" and "0-99,200", both ends included. Throws Error(invalid_argument) that names `option` for anything else, a
// number below `least`, and a list of more than a million.
std::vector<Index> number_list(std::string_view option, std::string_view text, Index least = 0);

}  // namespace reshard::cli
