#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "program/verify/verify_rules.h"

namespace reshard {
namespace {

void find_nothing_tried(const std::vector<VerifyRun>& runs, FaultList& faults) {
  const bool all_refused = std::ranges::all_of(runs, [](const VerifyRun& run) { return run.refused; });
  if (runs.empty() || !all_refused) return;
  std::vector<Index> numbers;
  for (const VerifyRun& run : runs) numbers.push_back(run.ranks);
  faults.add(
      "verdict", 0,
      fmt::format("require refuses every number of ranks that was tried ({}), so nothing was looked at; try others",
                  fmt::join(numbers, ", ")));
}

}  // namespace

std::vector<ProgramFault> verify(const SymbolicProgram& program, const VerifyProgramOptions& options) {
  const VerifyText text(program);
  FaultList faults;
  for (const VerifyRule& rule : verify_rules())
    if (rule.in_text != nullptr) rule.in_text(text, faults);
  // Declarations that cannot be told apart cannot be placed.
  if (faults.has("names", 0)) return std::move(faults).take(text, {});

  const LoweredText without_composites = lowered(text, faults);
  std::vector<Index> numbers = options.ranks, tried;
  std::ranges::sort(numbers);
  std::vector<VerifyRun> runs;
  for (const Index ranks : numbers) {
    runs.push_back(run_to_verify(text, without_composites, options, ranks, faults));
    if (runs.back().complete) tried.push_back(ranks);
  }
  find_nothing_tried(runs, faults);
  for (const VerifyRule& rule : verify_rules())
    if (rule.in_runs != nullptr) rule.in_runs(text, runs, faults);
  return std::move(faults).take(text, tried);
}

}  // namespace reshard
