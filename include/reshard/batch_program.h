// A plan of many tensors as a program of one-sided reads, with small transfers packed. Between ranks that are known to
// be together everything is read from where it lies: packing would copy it twice. Between ranks that are apart what is
// not packed is put by its owner.
//
// Windows: 2k and 2k + 1 are the source and the target of tensor k of the plan, in the order of plan.tensors(); the
// last is "staging", with staging_bytes(plan) bytes on every rank. Signals: 0 = "ready", 1 = "done", one slot per rank.
// Programs of several batches may share the staging window and the signals if their runs are numbered together.
//
// When a run returns, the rank's targets are complete and its sources may be overwritten. No source may be the target
// of another tensor of the batch.
#pragma once

#include "reshard/batch_plan.h"
#include "reshard/program.h"

namespace reshard {

// At most the plan's limit; 0 when nothing is packed.
Index staging_bytes(const BatchPlan& plan);

// The operations of `rank`; those of other ranks are empty. Cost: O(classes + the rank's transfers of all tensors).
// Per pair of ranks that move data it runs one get for each message of the plan, and one notification each way for each
// packed message; all direct transfers of a pair share one more.
// Throws Error(invalid_argument) when a layout, or `rank`, is outside the world; Error(unsupported) past 2^24 packed
// messages from one rank to another.
Program batch_program(const BatchPlan& plan, RankId rank, Index world_ranks, const RankHosts& hosts = {});

}  // namespace reshard
