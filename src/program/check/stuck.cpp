#include "program/check/stuck.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace reshard::explore {
namespace {

struct Stuck {
  std::uint32_t rank = 0, call = 0, position = 0;
  const Operation* wait = nullptr;
  std::size_t cell = 0;
};

std::vector<Stuck> stuck_ranks(Machine& machine, const State& end) {
  std::vector<Stuck> stuck;
  for (std::uint32_t r = 0; r < end.ranks.size(); ++r) {
    const Operation* op = machine.next(end, r);
    if (op == nullptr || op->code != OpCode::wait) continue;
    stuck.push_back(
        {r, end.ranks[r].call, machine.position(end.ranks[r]), op, machine.signals.cell(op->signal, op->slot, r)});
  }
  return stuck;
}

bool notifies(const Machine& machine, const Operation& op, std::size_t cell) {
  return op.code == OpCode::notify && machine.signals.cell(op.signal, op.slot, op.peer.value()) == cell;
}

std::vector<const StepRecord*> notifications(const Machine& machine, const Run& run, std::size_t cell) {
  std::vector<const StepRecord*> found;
  for (const StepRecord& step : run.steps())
    if (step.kind == StepRecord::Kind::operation && notifies(machine, step.operation, cell)) found.push_back(&step);
  return found;
}

bool lets_pass(const Operation& wait, std::uint32_t call, std::int64_t value) {
  const auto awaited = static_cast<std::int64_t>(wait.value + wait.per_run * (call - 1));
  return wait.compare == WaitCompare::equal ? value == awaited : value >= awaited;
}

// The notification that took the counter away from a value with which the wait had passed.
const StepRecord* undone_by(const Machine& machine, const Run& run, const Stuck& stuck) {
  std::int64_t value = machine.start_of(stuck.cell);
  const StepRecord* undone = nullptr;
  for (const StepRecord* step : notifications(machine, run, stuck.cell)) {
    const Operation& op = step->operation;
    const auto by = static_cast<std::int64_t>(op.value + op.per_run * (step->call - 1));
    const bool passed = lets_pass(*stuck.wait, stuck.call, value);
    value = op.notify_op == NotifyOp::set ? by : value + by;
    if (passed && !lets_pass(*stuck.wait, stuck.call, value)) undone = step;
  }
  return undone;
}

// A stuck rank that would notify the cell if it could go on.
std::string would_notify(Machine& machine, const Run& run, const State& end, const Stuck& stuck) {
  for (std::uint32_t r = 0; r < end.ranks.size(); ++r) {
    for (const auto& [op, call] : machine.rest(end, r)) {
      if (!notifies(machine, *op, stuck.cell)) continue;
      const std::string text = fmt::format("`{}` of call {}", run.text_of(*op, call), call);
      return r == stuck.rank ? fmt::format("its own {} stands behind the wait", text)
                             : fmt::format("rank {} is stuck before its {}", r, text);
    }
  }
  return "";
}

std::string missing(Machine& machine, const Run& run, const State& end, const Stuck& stuck) {
  if (const StepRecord* undone = undone_by(machine, run, stuck))
    return fmt::format("rank {}'s `{}` of call {} undid what would have let it pass", undone->rank,
                       run.text_of(*undone), undone->call);
  const std::string later = would_notify(machine, run, end, stuck);
  if (!later.empty()) return later;
  std::set<std::uint32_t> writers;
  for (const StepRecord* step : notifications(machine, run, stuck.cell)) writers.insert(step->rank);
  if (!writers.empty()) return fmt::format("no notification of rank {} is left that would", fmt::join(writers, ", "));
  const SignalSpec& spec = machine.signal_specs()[static_cast<std::size_t>(machine.signals.signal_of(stuck.cell))];
  const Index slot = machine.signals.slot_of(stuck.cell);
  if (spec.slots == machine.ranks() && slot != static_cast<Index>(stuck.rank))
    return fmt::format("nobody ever notifies it; by its slot, a notification of rank {} is missing", slot);
  return "nobody ever notifies it";
}

// What led a rank to its wait, and the counter to its value.
Past past_of(Machine& machine, const Run& run, const State& end, const Stuck& stuck) {
  const RankState& at = end.ranks[stuck.rank];
  Past past = run.past_of(machine.clocks.with_steps(at.clock, stuck.rank, at.steps));
  for (const StepRecord* step : notifications(machine, run, stuck.cell)) include(past, run.past_of(step->clock));
  return past;
}

// A rank whose notification was undone waits for ever whatever others do: the one with the fewest steps says it all.
// Otherwise ranks wait for one another.
std::vector<Stuck> enough_to_tell(Machine& machine, const Run& run, const State& end, const std::vector<Stuck>& stuck) {
  const Stuck* best = nullptr;
  for (const Stuck& at : stuck) {
    if (undone_by(machine, run, at) == nullptr) continue;
    const bool shorter =
        best == nullptr || length_of(past_of(machine, run, end, at)) < length_of(past_of(machine, run, end, *best));
    if (shorter) best = &at;
  }
  return best == nullptr ? stuck : std::vector<Stuck>{*best};
}

}  // namespace

void describe_stuck(CheckReport& report, Machine& machine, const Run& run, const State& end) {
  const std::vector<Stuck> stuck = stuck_ranks(machine, end);
  std::vector<std::string> sentences;
  for (const Stuck& at : stuck)
    sentences.push_back(fmt::format("rank {} waits for ever in call {} at `{}`: {} holds {}, {}", at.rank, at.call,
                                    run.text_of(*at.wait, at.call), run.counter(at.cell), end.signals[at.cell].value,
                                    missing(machine, run, end, at)));
  report.message = fmt::format("{}", fmt::join(sentences, "; "));
  const std::vector<Stuck> told = enough_to_tell(machine, run, end, stuck);
  Past past = run.past_of(Clocks::kNothing);
  std::set<const StepRecord*> culprits;
  for (const Stuck& at : told) {
    include(past, past_of(machine, run, end, at));
    if (const StepRecord* undone = undone_by(machine, run, at)) culprits.insert(undone);
  }
  for (const StepRecord& record : run.steps()) {
    if (record.kind != StepRecord::Kind::operation || record.step > past[record.rank]) continue;
    report.trace.push_back(run.step_of(record));
    report.trace.back().culprit = culprits.contains(&record);
  }
  for (const Stuck& at : told)
    report.trace.push_back({.rank = RankId(at.rank),
                            .call = at.call,
                            .operation = at.position,
                            .text = run.text_of(*at.wait, at.call),
                            .blocked = true,
                            .culprit = culprits.empty()});
}

}  // namespace reshard::explore
