// Runs a program step by step, and finds along the way what is wrong with every run that is ordered alike.
//
// The clocks of a run order what waits, notifications and fences order, and no more: two accesses that they leave
// unordered may happen either way, so puts need not be delivered late here for a late delivery to be seen.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "program/check/granularity.h"
#include "program/check/signal_cells.h"
#include "program/check/state.h"
#include "reshard/check.h"

namespace reshard::explore {

// Who reached memory, and what it takes to be ordered behind that.
struct Access {
  std::uint32_t rank = 0;
  std::uint32_t step = 0;
  std::uint32_t call = 0;
  std::uint32_t put = 0;         // until the fence behind it, or for ever on a put that never sees one
  std::uint32_t fences = 0;      // of its rank before it; puts only
  std::uint32_t peer = 0;        // puts only
  std::uint32_t number = 0;      // among the puts of that pair, from 1; ordered networks only
  std::uint32_t accumulate = 0;  // 0: no; the same number: by the same op, of the same dtype
  friend bool operator==(const Access&, const Access&) = default;
};

// Something wrong. `culprits` are the accesses, or steps, at fault; the last is where it shows.
struct Finding {
  CheckFault fault = CheckFault::race;
  std::vector<Access> culprits = {};
  bool second_reads = false, first_reads = false;  // races
  std::uint32_t cell = 0;                          // of memory, or of a signal
  ValueId held = 0, expected = 0;                  // wrong values
  Dtype dtype = Dtype::u8;
  std::string detail = {};
};

// One step as it ran, for traces.
struct StepRecord {
  enum class Kind { begin, operation, end };
  Kind kind = Kind::operation;
  std::uint32_t rank = 0;
  std::uint32_t call = 0;
  std::uint32_t position = 0;  // of the operation in its call
  std::uint32_t step = 0;
  ClockId clock = 0;  // what it is ordered behind, with itself
  Operation operation = {};
};

// The time that the caller allowed has passed in the midst of a step.
struct OutOfTime {};

// The program must be run anew: cells of memory are too coarse, or the order of a signal must be explored after all.
struct Restart {};

struct MemoryPlace {
  std::uint32_t rank = 0;
  int window = 0;
  Index offset = 0;
};

class Machine {
 public:
  // `granularity` and `signals` have observed all operations that are known before the run; they learn the others.
  // Throws OutOfTime behind the deadline, as all that runs steps does.
  Machine(const CheckInput& input, const CheckOptions& options, Granularity& granularity, SignalCells& signals,
          std::chrono::steady_clock::time_point ends);

  State start();
  enum class Outcome { ran, blocked, hot, finished };
  // The next step of a rank. `hot`: nothing was done, since it is on a hot cell; run_hot does it or says blocked.
  Outcome run(State& state, std::uint32_t rank) { return run(state, rank, false); }
  Outcome run_hot(State& state, std::uint32_t rank) { return run(state, rank, true); }
  bool is_enabled(const State& state, std::uint32_t rank);
  // What the rank would do next; null at the ends of a call and of the run.
  const Operation* next(const State& state, std::uint32_t rank) const;
  std::uint32_t position(const RankState& rank) const;
  // All that the rank has still to do, as far as it is known, and in which call.
  std::vector<std::pair<const Operation*, std::uint32_t>> rest(const State& state, std::uint32_t rank) const;

  std::vector<Finding> findings = {};
  std::vector<StepRecord>* record = nullptr;
  // Compares each access with all before it on the cell, not only with those that later ones must be ordered behind:
  // there is more to choose from.
  bool keep_all_accesses = false;
  // What a require said, and in which step, by rank and call.
  struct Refusal {
    std::string message;
    std::uint32_t step = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Refusal> refusals = {};
  Index transitions = 0;
  std::chrono::steady_clock::time_point deadline;

  Index ranks() const { return ranks_; }
  Index calls() const { return static_cast<Index>(input_.calls.size()); }
  bool has_deferred() const { return has_deferred_; }
  std::span<const WindowSpec> windows() const { return windows_; }
  std::span<const SignalSpec> signal_specs() const { return input_.calls.front().signals; }
  std::span<const Index> cell_bytes() const { return cell_bytes_; }
  MemoryPlace place_of(std::uint32_t cell) const;
  std::int64_t start_of(std::size_t cell) const;
  std::span<const std::uint32_t> refused_calls(const RankState& rank) const { return words_[rank.refused]; }
  Clocks clocks;
  Values values;
  SignalCells& signals;

 private:
  struct Actor {
    std::uint32_t rank = 0, call = 0;
    ClockId clock = 0;
    std::uint32_t access = 0;
    std::uint32_t accumulate = 0;
  };
  struct HashAccess {
    std::size_t operator()(const Access& access) const;
  };
  // `clock` knows everything that must come before; `sum` is of all notifications up to this one, or the value set.
  struct Notification {
    std::uint32_t before = 0, rank = 0, step = 0;
    ClockId clock = 0;
    std::int64_t sum = 0, delta = 0;
    friend bool operator==(const Notification&, const Notification&) = default;
  };
  struct HashNotification {
    std::size_t operator()(const Notification& notification) const;
  };
  struct ExpectedCell {
    std::uint32_t cell = 0;
    ValueId value = 0;
    Dtype dtype = Dtype::u8;
  };
  class Reader;

  Outcome run(State& state, std::uint32_t rank, bool hot);
  void look_at_clock();
  void leave_finished_lists(RankState& at) const;
  const std::vector<Operation>& list(std::uint32_t number) const { return *lists_[number]; }
  void note(const State& state, std::uint32_t rank, StepRecord::Kind kind, const Operation* operation);
  void begin_call(State& state, std::uint32_t rank);
  void end_call(State& state, std::uint32_t rank);
  void next_call(State& state, std::uint32_t rank);
  void perform(State& state, std::uint32_t rank, const Operation& operation);

  // Memory.
  std::size_t cell_at(std::uint32_t rank, int window, Index offset) const;
  Index bytes_of_window(std::uint32_t rank, int window) const;
  const std::vector<ValueId>& contents(std::uint32_t call, std::uint32_t rank, int window);
  void fill_start(State& state);
  Actor actor(const State& state, std::uint32_t rank, const Operation* put);
  bool is_ordered(const Access& access, const Actor& actor, bool is_read) const;
  void check_writes(const CellState& cell, std::size_t number, const Actor& actor, bool reads);
  void read(State& state, std::size_t cell, const Actor& actor);
  void write(State& state, std::size_t cell, const Actor& actor, ValueId value);
  void move(State& state, std::uint32_t rank, const Operation& operation);
  void move_row(State& state, const Actor& actor, const Operation& operation, std::uint32_t from, std::uint32_t to,
                Index source_offset, Index target_offset, Index row_bytes);
  void fill(State& state, std::uint32_t rank, const Operation& operation);
  void reduce(State& state, std::uint32_t rank, const Operation& operation);
  void reduce_element(State& state, const Actor& actor, const Operation& operation, const Reduction& reduction,
                      std::span<const Index> at);
  ValueId reduced(const Operation& operation, std::span<const ValueId> terms, Index cell_bytes, Index part,
                  bool is_whole);
  void compare_with_all(std::size_t cell, const Actor& actor, bool reads);
  void found_race(const Access& first, bool first_reads, const Actor& actor, bool reads, std::size_t cell);

  // Signals.
  void notify(State& state, std::uint32_t rank, const Operation& operation);
  void add_to_sum(State& state, std::uint32_t rank, std::size_t cell, std::int64_t value, ClockId clock);
  void check_order(const State& state, std::uint32_t rank, std::size_t cell) const;
  void check_sum_range(const State& state, std::uint32_t rank, std::size_t cell, ClockId clock);
  void check_value_range(std::uint32_t rank, std::size_t cell, std::int64_t value, std::uint32_t step);
  bool passes(const Operation& wait, std::int64_t value, std::uint32_t call) const;
  bool knows(ClockId clock, std::uint32_t rank, const Notification& notification) const;
  void acquire(State& state, std::uint32_t rank, const Operation& wait);
  ClockId least_rise(const State& state, std::uint32_t rank, std::size_t cell, const Operation& wait) const;
  ClockId least_count(State& state, std::uint32_t rank, std::size_t cell, const Operation& wait);
  void check_only_prefix(const State& state, std::uint32_t rank, std::size_t cell, const Operation& wait) const;
  std::int64_t value_of(const Operation& operation, std::uint32_t call) const;
  [[noreturn]] void explore_orders(std::size_t cell) const;

  // Deferred operations.
  void expand(State& state, std::uint32_t rank, const Operation& operation);
  std::uint32_t expanded_list(State& state, std::uint32_t rank, const Operation& operation);
  std::string bounds_fault(const Operation& operation, std::uint32_t rank) const;
  std::string range_fault(std::uint32_t rank, int window, Index first, Index bytes) const;
  void learn(std::span<const Operation> operations, std::uint32_t rank, std::uint32_t call);
  bool passes_at_once(const Operation& operation, std::uint32_t call, std::size_t cell) const;
  void refuse(State& state, std::uint32_t rank, const std::string& message);
  void stop(State& state, std::uint32_t rank, Finding finding);

  // Expectations.
  void prepare_expectations();
  ValueId value_of(const Term& term, const Expectation& expectation, std::uint32_t call, Index part);

  const CheckInput& input_;
  const CheckOptions& options_;
  Granularity& granularity_;
  Index steps_until_look_ = 0;
  Index ranks_ = 0;
  bool has_deferred_ = false;
  std::vector<WindowSpec> windows_;
  std::vector<Index> cell_bytes_;
  std::vector<std::vector<std::size_t>> first_cell_;  // per rank and window
  std::size_t n_cells_ = 0;
  std::vector<std::shared_ptr<const std::vector<Operation>>> lists_;
  Interner<std::vector<std::uint32_t>, HashWords> words_;
  Interner<Access, HashAccess> accesses_;
  Interner<Notification, HashNotification> chains_;
  std::vector<std::vector<std::vector<ExpectedCell>>> expected_;  // per call and rank
  // Expansions by what they read: the deferred operation, then the integers.
  std::map<std::pair<const Deferred*, std::vector<Index>>, std::uint32_t> expansions_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, std::vector<ValueId>> contents_;
  struct Touch {
    std::uint32_t access = 0;
    bool reads = false;
    auto operator<=>(const Touch&) const = default;
  };
  std::map<std::size_t, std::vector<Touch>> touches_;
  std::set<std::pair<Touch, Touch>> raced_;
};

}  // namespace reshard::explore
