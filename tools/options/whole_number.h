// Numbers on the command line.
#pragma once

#include <CLI/CLI.hpp>

namespace reshard::cli {

// Refuses what is no whole number of 64 bits from `least` on; a number that is too long is not cut to fit.
CLI::Validator whole_number(long long least = 0);

}  // namespace reshard::cli
