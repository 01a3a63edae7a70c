// What a run could leave behind on the machine.
#pragma once

#include <string>

namespace reshard::multi {

struct Leftovers {
  long shared_memory = 0;  // names in /dev/shm
  long descriptors = 0;    // open in this process: memory files, sockets, processes watched
  long mappings = 0;       // of anonymous memory files, in this process
  long children = 0;       // of this process, alive or not yet reaped
  friend bool operator==(const Leftovers&, const Leftovers&) = default;
};

Leftovers count_leftovers();
std::string to_string(const Leftovers& leftovers);

}  // namespace reshard::multi
