#include <algorithm>
#include <vector>

#include "program/verify/verify_rules.h"

namespace reshard {

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
  for (const VerifyRule& rule : verify_rules())
    if (rule.in_runs != nullptr) rule.in_runs(text, runs, faults);
  return std::move(faults).take(text, tried);
}

}  // namespace reshard
