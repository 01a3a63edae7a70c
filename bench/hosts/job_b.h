// Job b, rows to columns on two ranks: a world's way beside raw TCP, and beside others, in turns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reshard/fabric.h"

namespace reshard::bench {

constexpr Index kEdgeOfJobB = 8192;  // elements of f32

// Another way to do it.
struct Rival {
  std::string name;  // "alltoallw"
  std::function<void()> rows_to_columns;
};
// The rivals, given the memory of the tensors of this rank. Collective.
using MakeRivals = std::function<std::vector<Rival>(std::byte* rows, std::byte* columns)>;

// Rank 0 prints one JSON object: medians of ROUNDS rounds, and the median of the ratios of each: "ratio" to raw TCP,
// and "over_NAME" to each rival, greater where this library is faster. Throws Error(corrupt) when an answer is wrong.
void race_job_b(Endpoint& endpoint, const std::string& fabric, const std::string& address, int rounds,
                const MakeRivals& make_rivals = nullptr);

}  // namespace reshard::bench
