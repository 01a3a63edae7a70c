// A collective operation as programs.
#pragma once

#include <optional>
#include <vector>

#include "collective/job.h"
#include "reshard/program.h"

namespace reshard::collective {

struct Schedule {
  std::vector<Program> programs;  // run k is that of number k % size()
  Index rounds = 0;               // what the counters grow by in a run
};

// Whether the algorithm does the job with one rounding, as all others do; two_level cannot for averages of integers.
bool can_do(const Job& job, Algorithm algorithm);

// Windows are those of job.h; signal 0, "turns", has a counter for each rank. Only the operations of `only`, if given;
// those of the others are empty then. Precondition: can_do.
Schedule schedule_of(const Job& job, Algorithm algorithm, std::optional<RankId> only = {});

}  // namespace reshard::collective
