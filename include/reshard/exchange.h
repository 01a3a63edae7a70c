// How ranks that have no wire yet tell each other a few bytes each: over a folder, a store, another network.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/fabric.h"

namespace reshard {

// Collective: what each rank brought, in the order of ranks. May be called again and again. Throws Error(timeout) past
// the deadline, naming a rank that did not come.
using Exchange = std::function<std::vector<std::string>(std::string_view mine, Clock::time_point deadline)>;

// Through files of a folder that all ranks see, and that is made if it is not there. `job` keeps runs apart that share
// the folder: with another job for each run, what a crashed run has left does no harm.
// Throws Error(invalid_argument) for a job that is no plain file name, Error(io) where the folder cannot be written.
Exchange through_folder(std::string folder, std::string job, RankId rank, Index ranks);

}  // namespace reshard
