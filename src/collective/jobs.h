// The jobs of the operations of include/reshard/collective.h. All throw Error(invalid_argument) for arguments that make
// none, bytes past 2^63 among them. Who shares a host is filled in afterwards: all, unless it is.
#pragma once

#include <span>

#include "collective/job.h"

namespace reshard::collective {

Job all_to_all_job(Index ranks, Index bytes_per_peer);
// [from, to].
Job all_to_all_v_job(Index ranks, std::vector<Index> lengths);
// Of each rank's row.
Job all_gather_job(std::span<const Index> lengths);
Job broadcast_job(Index ranks, Index bytes, RankId root);
// Elements of each rank's part.
Job reduce_scatter_job(Index ranks, std::vector<Index> parts, Dtype dtype, ReduceOp op);
// Parts are whole cache lines, as far as the elements go: no two ranks write to one line.
Job all_reduce_job(Index ranks, Index elements, Dtype dtype, ReduceOp op);

// Sums of the lengths before each; the last is the sum of all.
std::vector<Index> offsets_of(std::span<const Index> lengths);

}  // namespace reshard::collective
