#include "program/check/race.h"

#include <fmt/format.h>

namespace reshard::explore {
namespace {

struct Side {
  Access access;
  const StepRecord* record = nullptr;
  bool reads = false;
};

// Whether `a` belongs before `b` in what the program means to do: by call, then by place in the body, which is the same
// for all ranks.
bool is_meant_before(const Side& a, const Side& b) {
  if (a.record->call != b.record->call) return a.record->call < b.record->call;
  return a.record->position < b.record->position;
}

// The order that goes wrong is the one that is not meant.
bool second_goes_first(const Side& first, const Side& second) { return is_meant_before(first, second); }

std::string quoted(const Run& run, const Side& side) {
  if (side.record->kind != StepRecord::Kind::operation)
    return fmt::format("{} of rank {}", run.text_of(*side.record), side.record->rank);
  return fmt::format("`{}` of rank {} in call {}", run.text_of(*side.record), side.record->rank, side.record->call);
}

// A notification came, but what it should have announced was not fenced.
bool is_unfenced(const Machine& machine, const Side& put, const Side& other) {
  return put.access.put != 0 && machine.clocks.steps(other.record->clock, put.access.rank) >= put.access.step;
}

std::string reason(const Machine& machine, const Side& a, const Side& b) {
  for (const auto& [put, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (!is_unfenced(machine, *put, *other)) continue;
    if (put->access.rank == other->access.rank) return "a put may be under way until the next fence of its rank";
    return fmt::format("rank {} has heard from rank {} since, but no fence stands between the put and the notification",
                       other->access.rank, put->access.rank);
  }
  return "nothing orders them";
}

std::string sentence(const Machine& machine, const Run& run, const Finding& finding, const Side& early,
                     const Side& late) {
  const std::string place = fmt::format("{} of rank {}", run.place(finding.cell), machine.place_of(finding.cell).rank);
  const std::string why = reason(machine, early, late);
  if (early.reads && !late.reads)
    return fmt::format("{} may read {} before {} has written it: {}", quoted(run, early), place, quoted(run, late),
                       why);
  if (late.reads)
    return fmt::format("{} may overwrite {} before {} has read it: {}", quoted(run, early), place, quoted(run, late),
                       why);
  return fmt::format("{} may write {} before {} does, which then has the last word: {}", quoted(run, early), place,
                     quoted(run, late), why);
}

TraceStep shown(const Run& run, const Side& side) {
  TraceStep step = run.step_of(*side.record);
  step.culprit = true;
  step.arrival = side.access.put != 0;
  return step;
}

}  // namespace

void describe_race(CheckReport& report, Machine& machine, const Run& run, const Finding& finding) {
  Side early{finding.culprits[0], run.find(finding.culprits[0]), finding.first_reads};
  Side late{finding.culprits[1], run.find(finding.culprits[1]), finding.second_reads};
  if (second_goes_first(early, late)) std::swap(early, late);
  report.message = sentence(machine, run, finding, early, late);
  Past past = run.past_of(early.access);
  include(past, run.past_of(late.access));
  std::vector<const StepRecord*> last;
  // A put is issued in its turn; what is at fault is when it arrives.
  for (const Side* side : {&early, &late})
    if (side->access.put == 0) last.push_back(side->record);
  report.trace = run.steps_of(past, last);
  report.trace.push_back(shown(run, early));
  report.trace.push_back(shown(run, late));
}

}  // namespace reshard::explore
