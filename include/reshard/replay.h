// Goes through a trace that check() found, step by step, with real bytes and counters.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "reshard/check.h"
#include "reshard/symbolic.h"

namespace reshard {

// A run of elements that a step reached: "data[1, 0..2]" of a rank, one after the other in memory. "-" stands for what
// outputs and local memory hold before the call has written them.
struct ReplayedElements {
  RankId rank = {};
  std::string place = {};
  std::vector<std::string> before = {};  // what they held; empty where the step only read them
  std::vector<std::string> after = {};
  friend bool operator==(const ReplayedElements&, const ReplayedElements&) = default;
};

// All slots of a signal of a rank.
struct ReplayedSignal {
  RankId rank = {};
  std::string name = {};
  std::vector<std::uint64_t> slots = {};
  bool changed = false;  // by this step
  friend bool operator==(const ReplayedSignal&, const ReplayedSignal&) = default;
};

// What there is once a step is done. A put whose arrival is a step of its own writes there, not where it is issued.
struct ReplayedStep {
  TraceStep step = {};
  std::vector<ReplayedElements> read = {};
  std::vector<ReplayedElements> written = {};
  std::vector<ReplayedSignal> signals = {};  // by signal, then by rank
  std::string refusal = {};                  // why the call ended there on this rank; empty: it goes on
  friend bool operator==(const ReplayedStep&, const ReplayedStep&) = default;
};

struct ReplayOptions {
  Index ranks = 2;
  std::map<std::string, Index> sizes = {};
};

// Composites are lowered. Throws Error(invalid_argument) where the trace is not one of this program with these options:
// names the step, and what the program does there instead.
// Cost: in the number of steps times the number of slots of all signals.
std::vector<ReplayedStep> replay(const SymbolicProgram& program, std::span<const TraceStep> trace,
                                 const ReplayOptions& options = {});

}  // namespace reshard
