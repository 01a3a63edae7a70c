// What tells hosts apart, as text. Ranks with equal text share memory.
#pragma once

#include <string>
#include <vector>

#include "reshard/index.h"

namespace reshard::fabric {

// `wanted` if it is not empty, else RESHARD_HOST if that is set, else what the machine says of itself: the boot that it
// runs since, and its name, so that containers with names of their own are hosts of their own.
std::string host_identity(const std::string& wanted);

// Numbers of the hosts of ranks with these identities: from 0, in the order of the lowest rank on each.
std::vector<Index> number_hosts(const std::vector<std::string>& identities);

}  // namespace reshard::fabric
