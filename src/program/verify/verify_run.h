// What each rank does in the first calls, for one number of ranks, as far as it is known before memory is read.
#pragma once

#include <set>
#include <vector>

#include "program/symbolic/placed_slice.h"
#include "program/verify/lowered_text.h"

namespace reshard {

// One statement as one rank runs it.
struct VerifyEvent {
  OpCode code = OpCode::fence;
  std::size_t statement = 0;
  // put, get, copy, reduce, fill: what is read and written, of whatever rank.
  std::vector<PlacedSlice> reads = {};
  std::vector<PlacedSlice> writes = {};
  // notify, wait.
  RankId peer = {};
  int signal = 0;
  Index slot = 0;
  Index value = 0;
  NotifyOp op = NotifyOp::set;
  WaitCompare compare = WaitCompare::greater_equal;
  // deferred: what follows from memory, or has a fault. Allocations and signals it may use, in any way; of allocations,
  // those whose elements decide.
  std::set<int> windows = {};
  std::set<int> signals = {};
  std::set<int> elements = {};
};

// How many calls are followed: windows and slots that take turns come around twice.
constexpr Index kVerifiedCalls = 5;

struct VerifyRun {
  Index ranks = 0;
  bool complete = false;  // every rank came to its end in every call
  bool refused = false;   // the program requires another number of ranks, or another size
  std::vector<WindowSpec> windows = {};
  std::vector<SignalSpec> signals = {};
  std::vector<std::vector<Index>> signal_shapes = {};
  std::vector<std::vector<std::vector<VerifyEvent>>> calls = {};  // per call and rank

  const std::vector<VerifyEvent>& events(Index call, Index rank) const {
    return calls.at(static_cast<std::size_t>(call - 1)).at(static_cast<std::size_t>(rank));
  }
};

// Faults that come to light as expressions get their values are added: of declarations (`placement`), of values,
// bounds, shapes, waits below zero and one-sided requires. Statements with faults are not looked at.
VerifyRun run_to_verify(const VerifyText& text, const LoweredText& lowered, const VerifyProgramOptions& options,
                        Index ranks, FaultList& faults);

}  // namespace reshard
