// Runs a program on N simulated devices in one thread: real bytes, a seeded schedule, a virtual clock.
//
// What the schedule may do, what the clock charges and what is compared after each call: docs/design/simulate.md.
// Thread rule: the functions are pure; reports are values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reshard/program.h"
#include "reshard/symbolic.h"
#include "reshard/topology.h"
#include "reshard/unroll.h"

namespace reshard {

struct SimulateOptions {
  // Physical device of each rank: rank r is devices[r]; their number is the number of ranks. Names only.
  std::vector<Index> devices = {0, 1};
  std::map<std::string, Index> sizes = {};
  Index calls = 1;
  std::uint64_t seed = 0;                 // of the schedule
  bool delay_puts = true;                 // puts arrive late, in any order that fences allow; false: at once
  std::optional<RankId> slow = {};        // a rank that is chosen only when nothing else can happen
  std::optional<Topology> topology = {};  // what the clock charges, rank by rank; none: one host of equal links
  bool timeline = false;
  // Called for each rank and window when the rank ends a call.
  std::function<void(Index call, RankId rank, int window, std::span<const std::byte> bytes)> observe = {};
};

// What each rank does in one call.
struct CostCard {
  struct Rank {
    // As Traffic counts (executor.h): what a rank puts to, or gets from, itself is in them too.
    Index bytes_put = 0;
    Index bytes_got = 0;
    Index bytes_copied = 0;
    Index bytes_reduced = 0;
    Index puts = 0;
    Index gets = 0;
    Index notifications = 0;
    Index waits = 0;
    // Of these, what leaves the rank or comes from another.
    Index peer_bytes = 0;
    Index peer_notifications = 0;
    // Steps from a notification to a wait of another rank, one after the other, in a run in step: the depth of the
    // call.
    Index rounds = 0;
    friend bool operator==(const Rank&, const Rank&) = default;
  };
  std::vector<Rank> ranks = {};
  // A table: a line per rank, and one of sums (of rounds, the most).
  std::string text() const;
  friend bool operator==(const CostCard&, const CostCard&) = default;
};

// Of call `options.call`, from the operations alone, without data; `only` is ignored. Where some follow from memory
// (deferred), the calls up to this one are run. Composites are lowered.
// Throws Error(invalid_argument) where the program cannot be unrolled.
CostCard cost_card(const SymbolicProgram& program, const UnrollOptions& options);

struct SimulatedEvent {
  enum class Track { operations, arrivals };  // arrivals: a put on its way, on the link out of its rank
  RankId rank = {};
  Track track = Track::operations;
  OpCode code = OpCode::fence;
  Index call = 1;
  std::string text = {};
  double begin = 0;  // seconds of the virtual clock
  double end = 0;
  std::optional<RankId> peer = {};        // of a transfer or notification
  std::optional<std::size_t> cause = {};  // of a wait: the event, in the timeline, of the notification it passed by
};

struct Stuck {
  RankId rank = {};
  Index call = 1;
  std::string cell;  // "signal[1]"
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
  WaitCompare compare = WaitCompare::greater_equal;
  std::vector<RankId> missing = {};  // ranks that have yet to notify this cell; empty: nobody will
  std::string text = {};             // one line
};

// A require that did not hold, or an operation that left its window: the call ended there, on this rank.
struct SimulatedRefusal {
  Index call = 1;
  RankId rank = {};
  std::string text = {};
};

struct SimulateReport {
  bool finished = false;     // all ranks, all calls
  bool correct = false;      // and no call was refused, and every expectation holds after every call
  std::string message = {};  // what is wrong, in one paragraph; empty where nothing is
  std::vector<Stuck> stuck = {};
  std::vector<SimulatedRefusal> refusals = {};
  Index wrong_elements = 0;  // over all calls
  CostCard cost = {};        // counted, of all calls together
  double seconds = 0;        // virtual
  std::vector<double> rank_seconds = {};
  std::vector<SimulatedEvent> timeline = {};  // in the order of the schedule
  Index steps = 0;                            // of the schedule
};

// Composites are lowered. Deadlocks, wrong values and refusals are in the report; throws Error(invalid_argument) for
// devices that are listed twice or negative, a slow rank or topology that does not fit, and where the program cannot be
// unrolled. The same program, options and seed give the same report.
SimulateReport simulate(const SymbolicProgram& program, const SimulateOptions& options = {});

// What happens in each call, for programs that come from elsewhere (plans).
struct SimulateInput {
  std::vector<Program> programs = {};                 // call c runs number (c - 1) % size(), as run c - 1
  std::vector<std::vector<Expectation>> expect = {};  // for each of them; empty: values are not checked
  // Contents of a window when a rank begins a call, as fill_initial gives them. Null: none.
  std::function<bool(Index call, RankId rank, int window, std::span<std::byte> bytes)> initial = {};
};
SimulateReport simulate(const SimulateInput& input, const SimulateOptions& options = {});

// The timeline in Chrome's trace event format (JSON object format), as Perfetto opens it: one process per rank, a track
// each for operations and arrivals, flows from notification to wait. Microseconds.
std::string chrome_trace(const SimulateReport& report, const std::vector<Index>& devices);

}  // namespace reshard
