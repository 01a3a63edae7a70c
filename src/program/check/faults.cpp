#include "program/check/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "program/check/race.h"
#include "program/check/stuck.h"
#include "program/check/trace.h"

namespace reshard::explore {
namespace {

// What explains the others comes first.
int rank_of(CheckFault fault) {
  switch (fault) {
    case CheckFault::race: return 0;
    case CheckFault::out_of_bounds: return 1;
    case CheckFault::wrong_value: return 2;
    case CheckFault::overflow: return 3;
    case CheckFault::refused: return 4;
    case CheckFault::deadlock: return 5;
    case CheckFault::contract: return 6;
  }
  return 7;
}

Past past_of(const Run& run, const Finding& finding) {
  Past past = run.past_of(Clocks::kNothing);
  for (const Access& access : finding.culprits) include(past, run.past_of(access));
  return past;
}

const Finding& worst_of(const std::vector<Finding>& findings, const Run& run) {
  const Finding* best = nullptr;
  Index best_length = 0;
  for (const Finding& finding : findings) {
    const Index length = length_of(past_of(run, finding));
    const int rank = rank_of(finding.fault);
    if (best != nullptr && (rank > rank_of(best->fault) || (rank == rank_of(best->fault) && length >= best_length)))
      continue;
    best = &finding;
    best_length = length;
  }
  return *best;
}

// Everything before the culprits, which are marked; those that ran no step are left out.
std::vector<TraceStep> plain_trace(const Run& run, const Past& past, std::span<const Access> culprits) {
  std::vector<const StepRecord*> marked;
  for (const Access& access : culprits)
    if (const StepRecord* record = run.find(access)) marked.push_back(record);
  std::vector<TraceStep> trace = run.steps_of(past, marked);
  for (const StepRecord* record : marked) {
    trace.push_back(run.step_of(*record));
    trace.back().culprit = true;
  }
  return trace;
}

void describe_wrong_value(CheckReport& report, Machine& machine, const Run& run, const Finding& finding) {
  const MemoryPlace place = machine.place_of(finding.cell);
  const Access& reader = finding.culprits.back();
  if (!finding.detail.empty()) {
    report.message = fmt::format(
        "`{}` of rank {} in call {} depends on {}, which holds no number that a check knows: fill it, or "
        "give the input that it comes from an `init`",
        finding.detail, reader.rank, reader.call, run.place(finding.cell));
    report.trace = plain_trace(run, run.past_of(reader), {&reader, 1});
    return;
  }
  const auto text = [&](ValueId value) {
    return machine.values.text(value, machine.windows(), machine.cell_bytes(), finding.dtype);
  };
  report.message = fmt::format("{} of rank {} in call {} holds {}, expected {}", run.place(finding.cell), place.rank,
                               reader.call, text(finding.held), text(finding.expected));
  // The access that wrote it says more than the end of the call.
  const std::span<const Access> writers = std::span(finding.culprits).first(finding.culprits.size() - 1);
  const std::span<const Access> shown = writers.empty() ? std::span(finding.culprits) : writers;
  Past past = run.past_of(Clocks::kNothing);
  for (const Access& access : shown) include(past, run.past_of(access));
  report.trace = plain_trace(run, past, shown);
}

std::string counter_of(Machine& machine, const Run& run, const Finding& finding) {
  return fmt::format("{} of rank {}", run.counter(finding.cell), machine.signals.owner_of(finding.cell));
}

}  // namespace

void describe(CheckReport& report, Machine& machine, std::span<const StepRecord> steps, const State& end) {
  const Run run(machine, steps);
  const Finding& finding = worst_of(machine.findings, run);
  report.fault = finding.fault;
  switch (finding.fault) {
    case CheckFault::race: return describe_race(report, machine, run, finding);
    case CheckFault::deadlock: return describe_stuck(report, machine, run, end);
    case CheckFault::wrong_value: return describe_wrong_value(report, machine, run, finding);
    case CheckFault::contract:
    case CheckFault::overflow:
      report.message = fmt::format("{} {}", counter_of(machine, run, finding), finding.detail);
      break;
    case CheckFault::refused:
      report.message = fmt::format(
          "rank {} refuses call {} (\"{}\") and rank {} does not; all ranks must come to the "
          "same verdict",
          finding.culprits[1].rank, finding.culprits[1].call, finding.detail, finding.culprits[0].rank);
      break;
    case CheckFault::out_of_bounds:
      report.message =
          fmt::format("rank {} in call {}: {}", finding.culprits[0].rank, finding.culprits[0].call, finding.detail);
      break;
  }
  report.trace = plain_trace(run, past_of(run, finding), finding.culprits);
}

}  // namespace reshard::explore
