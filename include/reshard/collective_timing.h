// How long the collective operations take on a world, by each algorithm: what tables of algorithms are made of.
#pragma once

#include <vector>

#include "reshard/tuning.h"
#include "reshard/world.h"

namespace reshard {

struct TimingOptions {
  int rounds = 9;           // of which the median counts; each times every algorithm once, in an order that rotates
  double seconds = 300e-6;  // that a round takes of each at least, by running it again and again
};

struct AlgorithmTime {
  Algorithm algorithm = Algorithm::direct;
  double seconds = 0;  // of one run, on the rank that took longest: the median
  double least = 0, most = 0;
};

// Collective; the same on every rank. Of all algorithms that can do it. `bytes` of input or output per rank, whichever
// is more, rounded down to what divides; reductions are sums of f32. Runs follow each other without a pause.
std::vector<AlgorithmTime> time_algorithms(World& world, CollectiveKind kind, Index bytes,
                                           const TimingOptions& options = {});

// The rows for one case, of times at sizes that ascend: each size goes to the algorithm that was fastest there, but an
// algorithm is only left for one that is faster by more than `margin` (a ratio). Boundaries lie in the middle, as a
// geometric mean.
std::vector<TuningRow> rows_of(CollectiveKind kind, Index ranks, Index hosts,
                               const std::vector<std::pair<Index, std::vector<AlgorithmTime>>>& times,
                               double margin = 1.03);

}  // namespace reshard
