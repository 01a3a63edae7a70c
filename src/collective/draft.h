// The operations of one rank as they are written, phase by phase.
//
// A rank has one counter for each peer, which says how far that peer has come. `tell(peer, phase)` sets it there,
// `await(peer, phase)` waits for it here. Phases count from 1 within a run and the counters go on from run to run, of
// this operation and of others: a peer that is further has passed this phase too.
#pragma once

#include <span>
#include <vector>

#include "collective/job.h"
#include "reshard/program.h"

namespace reshard::collective {

// Bytes of a window of the rank that writes, or of the peer that is named.
struct Spot {
  int window = kInput;
  Index offset = 0;
};

class Draft {
 public:
  // Of rank `me`. `rounds` is what the counters grow by in a run.
  Draft(std::vector<Operation>& operations, RankId me, Index rounds)
      : operations_(operations), me_(me), rounds_(rounds) {}

  // Of no bytes they write nothing. Copies that follow each other become one operation, and one block where they
  // adjoin.
  void copy(Spot source, Spot target, Index bytes);
  void get(RankId peer, Spot source, Spot target, Index bytes);
  void put(RankId peer, Spot source, Spot target, Index bytes);
  void fence() { operations_.push_back({.code = OpCode::fence}); }
  void tell(RankId peer, Index phase);
  void await(RankId peer, Index phase);
  // result = terms[0] op terms[1] op .., `count` elements; avg divides by `divisor`.
  void fold(Spot result, std::span<const Spot> terms, Index count, const Folding& folding, Index divisor);
  void cast(Spot source, Dtype source_dtype, Spot target, Dtype target_dtype, Index count);

 private:
  void move(OpCode code, RankId peer, Spot source, Spot target, Index bytes);
  Operation signal(OpCode code, Index phase) const;

  std::vector<Operation>& operations_;
  RankId me_;
  Index rounds_;
};

}  // namespace reshard::collective
