// Ranks whose calls are drawn.
#pragma once

#include <functional>
#include <string>

#include "reshard/world.h"

namespace reshard::cli {

// As thread_ranks or process_ranks, and writes what each rank did on its fabric to `file`, also where one has failed:
// for chrome://tracing or Perfetto, one row per rank. While it runs each rank has a file of its own beside it.
void traced_ranks(bool as_processes, Index ranks, const std::function<void(World&)>& body, const WorldOptions& options,
                  const std::string& file);

}  // namespace reshard::cli
