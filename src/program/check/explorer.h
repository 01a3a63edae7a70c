// Runs a program in every order that may matter, until something is wrong or nothing is left.
#pragma once

#include <chrono>
#include <optional>
#include <unordered_set>
#include <vector>

#include "program/check/machine.h"

namespace reshard::explore {

// How much of the options' limits is used, over all runs of one check.
struct Budget {
  explicit Budget(const CheckOptions& limits) : options(&limits), began(std::chrono::steady_clock::now()) {}
  const CheckOptions* options;
  std::chrono::steady_clock::time_point began;
  Index states = 0;
  Index transitions = 0;
  bool is_spent() const;
  std::chrono::steady_clock::time_point deadline() const;
  double seconds() const;
  // Counts `steps` more, and tells the caller's callback now and then.
  void spend(Index steps);

 private:
  Index told_ = 0;
};

class Explorer {
 public:
  Explorer(Machine& machine, Budget& budget) : machine_(machine), budget_(budget) {}

  // False where the budget ended it. machine.findings says what was found, if anything.
  bool explore();
  // The run that found it once more, for all that is wrong in it; `steps` are those of the run. Returns where it
  // ends.
  State replay(std::vector<StepRecord>& steps);

 private:
  struct Branch {
    State state;
    std::vector<std::uint32_t> choices;  // ranks whose next step is on a hot cell
    std::size_t next = 0;
  };
  struct HashOfHash {
    std::size_t operator()(const StateHash& hash) const { return hash.first; }
  };
  // Takes all steps whose order does not matter. False where something was found.
  bool settle(State& state, bool to_the_end);
  std::vector<std::uint32_t> choices(const State& state);
  // At the end of a run: what did not end well.
  void judge_end(const State& state);
  void find_stuck(const State& state);
  void find_lone_refusals(const State& state);
  bool visit(State state);
  void keep_path();

  Machine& machine_;
  Budget& budget_;
  std::vector<Branch> branches_;
  std::vector<std::uint32_t> path_;
  std::vector<StepRecord> first_run_;
  bool first_ended_ = false;
  std::unordered_set<StateHash, HashOfHash> visited_;
};

}  // namespace reshard::explore
