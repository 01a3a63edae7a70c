// A trace with all that it takes to go through it again.
#pragma once

#include <string>
#include <vector>

#include "reshard/check.h"
#include "reshard/replay.h"

namespace reshard::cli {

struct SavedTrace {
  SymbolicProgram program = {};
  ReplayOptions options = {};
  std::string message = {};  // what it shows
  std::vector<TraceStep> steps = {};
};

std::string trace_file_text(const SavedTrace& trace);
// Throws Error(invalid_argument) that names `source` for what trace_file_text() did not write.
SavedTrace trace_from_text(const std::string& text, const std::string& source);

}  // namespace reshard::cli
