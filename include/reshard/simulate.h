// Runs a program on N simulated devices in one thread: real bytes, a seeded schedule, a virtual clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  std::uint64_t seed = 0;         // of the schedule
  bool delay_puts = true;         // puts arrive late, in any order that fences allow; false: at once
  std::optional<RankId> slow = {};  // a rank that is chosen only when nobody else can go on
  std::optional<Topology> topology = {};  // what the clock charges; none: one host of equal links
  bool timeline = false;
};

// What one rank does in one call. `rounds` are the waits that block in a run in step: the depth of the call.
struct CostCard {
  struct Rank {
    Index bytes_put = 0;
    Index bytes_got = 0;
    Index bytes_copied = 0;
    Index bytes_reduced = 0;
    Index puts = 0;
    Index gets = 0;
    Index notifications = 0;
    Index waits = 0;
    Index rounds = 0;
    friend bool operator==(const Rank&, const Rank&) = default;
  };
  std::vector<Rank> ranks;
  // What lies in peers' windows only: puts and gets to the rank itself move no message but are counted in puts and gets.
  std::string text() const;
};

// From the operations alone. Deferred operations cost what they expand to with the inputs of that call.
CostCard cost_card(const SymbolicProgram& program, const UnrollOptions& options);

struct SimulatedEvent {
  RankId rank = {};
  Index call = 1;
  std::string text;
  double begin = 0;  // seconds of the virtual clock
  double end = 0;
  bool is_wait = false;
  bool is_transfer = false;
  RankId peer = {};  // of a transfer or notification
};

struct Stuck {
  RankId rank = {};
  std::string cell;  // "signal[1]"
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
  WaitCompare compare = WaitCompare::greater_equal;
  std::vector<RankId> missing;  // ranks whose notify to this cell has not come
  std::string text;             // one line
};

struct SimulateReport {
  bool finished = false;  // all ranks, all calls
  bool correct = false;   // and every expectation holds after every call
  std::string message;    // what is wrong, in one paragraph; empty where nothing is
  std::vector<Stuck> stuck = {};
  CostCard cost = {};  // counted, of all calls together
  double seconds = 0;  // virtual
  std::vector<double> rank_seconds = {};
  std::vector<SimulatedEvent> timeline = {};
  Index steps = 0;
};
SimulateReport simulate(const SymbolicProgram& program, const SimulateOptions& options = {});

// The timeline in Chrome's trace event format (JSON object format), as Perfetto opens it: one process per rank, a track
// each for operations and arrivals, flows from notification to wait. Microseconds.
std::string chrome_trace(const SimulateReport& report, const std::vector<Index>& devices);

}  // namespace reshard
