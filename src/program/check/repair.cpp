#include "program/check/repair.h"

#include <algorithm>

#include "reshard/error.h"

namespace reshard::explore {
namespace {

constexpr Index kMostTrials = 400;

class Trials {
 public:
  Trials(const CheckOptions& options, const CheckReport& report) : options_(options) {
    options_.suggest = false;
    options_.progress = nullptr;
    options_.max_states = std::min(options.max_states, std::max<Index>(200'000, 4 * report.states));
    options_.time_limit = std::min<std::chrono::milliseconds>(options.time_limit, std::chrono::seconds(10));
  }

  bool passes(const SymbolicProgram& program) {
    if (++trials_ > kMostTrials || std::chrono::steady_clock::now() - began_ > options_.time_limit) return false;
    try {
      const CheckReport report = check(program, options_);
      return report.passed && !report.bounded;
    } catch (const Error&) {
      return false;  // a change that does not fit this program
    }
  }

 private:
  CheckOptions options_;
  Index trials_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

using Rule = void (*)(const SymbolicProgram&, std::vector<Edit>&);

std::vector<Rule> rules_for(CheckFault fault) {
  switch (fault) {
    case CheckFault::deadlock:
      return {wait_for_at_least, subtract_instead_of_reset, move_waits, notify_from_all, count_calls, wait_for_all};
    case CheckFault::overflow:
    case CheckFault::contract: return {count_calls, add_one_each, subtract_instead_of_reset, wait_for_at_least};
    case CheckFault::race:
    case CheckFault::wrong_value:
      return {add_fences,     move_notifications,        count_calls,   wait_for_all, add_rounds,
              fence_each_put, subtract_instead_of_reset, double_windows};
    default: return {};
  }
}

}  // namespace

std::vector<Edit> edits_for(const SymbolicProgram& program, CheckFault fault) {
  std::vector<Edit> edits;
  for (const Rule rule : rules_for(fault)) rule(program, edits);
  return edits;
}

std::optional<Repair> find_repair(const SymbolicProgram& program, const CheckOptions& options,
                                  const CheckReport& report) {
  Trials trials(options, report);
  const std::vector<Edit> edits = edits_for(program, *report.fault);
  for (const Edit& edit : edits)
    if (trials.passes(edit.program)) return Repair{edit.description, edit.program};
  // What is still wrong after the first change decides about the second.
  for (const Edit& edit : edits) {
    for (const CheckFault fault : {CheckFault::race, CheckFault::deadlock}) {
      for (const Edit& second : edits_for(edit.program, fault))
        if (trials.passes(second.program))
          return Repair{edit.description + "\nand: " + second.description, second.program};
    }
  }
  return {};
}

}  // namespace reshard::explore
