// Which bytes an operation reaches.
#pragma once

#include <string>
#include <vector>

#include "reshard/program.h"

namespace reshard::simulation {

struct ByteRun {
  RankId rank = {};
  int window = 0;
  Index offset = 0;
  Index bytes = 0;
};

// Runs that meet are one; none is empty. `rank` runs the operation. A put reads and writes when it arrives.
std::vector<ByteRun> read_by(const Operation& operation, RankId rank);
std::vector<ByteRun> written_by(const Operation& operation, RankId rank);

// As the text form writes it: "data[1]" for a whole row, "data[1, 0..2]" for part of one. Widens the run to whole
// elements.
std::string name_of_run(const Program& program, ByteRun& run);

}  // namespace reshard::simulation
