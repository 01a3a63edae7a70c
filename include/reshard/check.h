// Finds what can go wrong in a program under any interleaving, or proves that nothing can, for a number of ranks and
// calls. docs/design/check.md says what is explored, why it suffices, and what is not covered.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reshard/program.h"
#include "reshard/symbolic.h"
#include "reshard/unroll.h"

namespace reshard {

struct CheckOptions {
  Index ranks = 2;
  Index calls = 2;  // one after the other, on the same windows and signals
  std::map<std::string, Index> sizes = {};
  // What is explored at most; past it the verdict is `bounded`.
  Index max_states = 10'000'000;
  std::chrono::milliseconds time_limit = std::chrono::minutes(5);
  // Puts of one rank to one peer arrive in order, and before a notification that follows them, even without a fence:
  // shows which programs depend on an ordered network.
  bool ordered_puts = false;
  bool suggest = true;  // look for a repair
  // Called now and then with the number of states so far.
  std::function<void(Index)> progress = {};
};

enum class CheckFault {
  race,           // two accesses to the same bytes, one of them a write, that nothing orders
  wrong_value,    // an output differs from what the program expects
  deadlock,       // ranks wait for ever
  contract,       // a signal does not hold between calls what its protocol says
  overflow,       // a counter passes its width
  refused,        // a require failed on some ranks and not on others
  out_of_bounds,  // a deferred operation leaves its buffer, peer or slot range
};
std::string_view name_of(CheckFault fault);

// One step of a trace: what a rank did, or that one of its puts arrived.
struct TraceStep {
  RankId rank = {};
  Index call = 1;
  Index operation = 0;   // position among the operations of this rank in this call
  std::string text;      // "notify signal@1[0] = 1"
  bool arrival = false;  // of a put issued before
  bool caller = false;   // between calls: inputs are given, or outputs read
  bool blocked = false;  // a wait that never passes; last of its rank
  bool culprit = false;  // one of the accesses at fault
  friend bool operator==(const TraceStep&, const TraceStep&) = default;
};

// Two lines for each step that a repair takes, in the form of the text: where, and the statement to add or change.
struct Repair {
  std::string description;       // "add a ready round before the put: .."
  SymbolicProgram program = {};  // with the repair; proven by the same check
};

struct CheckReport {
  bool passed = false;
  bool bounded = false;  // not all was explored: passed means only that nothing was found
  std::optional<CheckFault> fault = {};
  std::string message = {};           // one paragraph: what, where, why
  std::vector<TraceStep> trace = {};  // shortest for this fault: the accesses at fault and what must come before them
  std::optional<Repair> repair = {};
  Index ranks = 0;
  Index calls = 0;
  Index states = 0;       // visited
  Index transitions = 0;  // executed
  double seconds = 0;
  std::string text() const;  // with the trace in one column per rank
};

// Composites are lowered. Throws Error(invalid_argument) where the program cannot be unrolled.
CheckReport check(const SymbolicProgram& program, const CheckOptions& options = {});

// What happens in each call, for programs that come from elsewhere (plans). `calls` has one program for each call.
struct CheckInput {
  std::vector<Program> calls = {};
  std::vector<std::vector<Expectation>> expect = {};  // per call; empty: values are not checked
  // Contents of integers that operations read, for window and rank, at the start of a call (from 1). Null: none.
  std::function<bool(Index call, RankId rank, int window, std::span<std::byte> bytes)> initial = {};
};
CheckReport check(const CheckInput& input, const CheckOptions& options = {});

// The trace as a picture: a column per rank, time downward, arrows from notifications to waits and from puts to their
// arrival, the accesses at fault in red. SVG 1.1, stands alone.
std::string svg_of(const CheckReport& report);

}  // namespace reshard
