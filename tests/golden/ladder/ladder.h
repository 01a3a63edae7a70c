// The programs of examples/ladder.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "reshard/symbolic.h"

namespace reshard {

struct LadderFile {
  std::string step;  // "15_all_to_all"
  std::string mode;  // hand, builtin, trap; or another way of the step
  std::string name() const { return step + "." + mode + ".rp"; }
};

// In the order of their names.
std::vector<LadderFile> ladder_files();
// As it lies on disk, with no change.
std::string ladder_text(const LadderFile& file);
SymbolicProgram ladder_program(const LadderFile& file);
// Whether steps of this mode are for use: all but traps.
inline bool is_right(const LadderFile& file) { return file.mode != "trap"; }
// Calls `visit` for each file under a SCOPED_TRACE that names it.
void each_right_program(const std::function<void(const LadderFile&, const SymbolicProgram&)>& visit);
void each_trap(const std::function<void(const LadderFile&, const SymbolicProgram&)>& visit);

}  // namespace reshard
