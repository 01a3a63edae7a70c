// One state of an explored run, in numbers only: cheap to copy, to compare and to hash.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "program/check/clocks.h"
#include "program/check/values.h"

namespace reshard::explore {

// Where a rank is. `list` is the operations it runs now, `at` the next of them, `parent` where to go on behind them.
struct RankState {
  std::uint32_t call = 1;
  std::uint32_t begun = 0;  // of this call
  std::uint32_t list = 0;
  std::uint32_t at = 0;
  std::uint32_t parent = 0;
  std::uint32_t steps = 0;  // so far, over all calls
  std::uint32_t fences = 0;
  ClockId clock = Clocks::kNothing;  // without its own steps
  std::uint32_t refused = 0;         // a list of calls
};

// One counter of one rank. Chains are lists of notifications, the last first.
struct SignalState {
  std::int64_t value = 0;              // as the run went
  std::int64_t own = 0;                // kinds of sums: what the owner added
  std::uint32_t chain = 0;             // by peers; of general cells, by anyone
  std::uint32_t own_chain = 0;         // kinds of sums: by the owner
  ClockId release = Clocks::kNothing;  // what a wait acquires from a general or hot cell
  std::uint32_t last_wait = 0;         // step of the owner
};

struct CellState {
  ValueId value = Values::kUndefined;
  std::uint32_t writes = 0;  // accesses that later ones must be ordered behind
  std::uint32_t reads = 0;
};

struct State {
  std::vector<RankState> ranks;
  std::vector<SignalState> signals;
  std::vector<CellState> cells;
  std::vector<std::uint32_t> puts;  // ordered networks: how many each rank has put to each
};

using StateHash = std::pair<std::uint64_t, std::uint64_t>;
StateHash hash_of(const State& state);

}  // namespace reshard::explore
