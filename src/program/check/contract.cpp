#include "program/check/contract.h"

#include <fmt/format.h>

#include "reshard/program_text.h"

namespace reshard::explore {
namespace {

// What one cell holds after each call, and who notified it last.
struct History {
  std::vector<std::int64_t> after;  // after[0] is before the first call
  std::vector<Access> last;         // per call
};

bool is_credits(const SignalSpec& spec) {
  return spec.protocol == Protocol::credits_1 || spec.protocol == Protocol::credits_2;
}

const SignalSpec& spec_of(const Machine& machine, std::size_t cell) {
  return machine.signal_specs()[static_cast<std::size_t>(machine.signals.signal_of(cell))];
}

std::vector<History> histories_of(Machine& machine, std::span<const StepRecord> run) {
  const auto calls = static_cast<std::size_t>(machine.calls());
  std::vector<History> histories(machine.signals.size());
  for (std::size_t cell = 0; cell < histories.size(); ++cell) {
    histories[cell].after.assign(calls + 1, 0);
    histories[cell].after[0] = machine.start_of(cell);
    histories[cell].last.resize(calls);
  }
  std::vector<std::vector<bool>> is_set(histories.size(), std::vector<bool>(calls + 1, false));
  for (const StepRecord& step : run) {
    const Operation& op = step.operation;
    if (step.kind != StepRecord::Kind::operation || op.code != OpCode::notify) continue;
    const std::size_t cell = machine.signals.cell(op.signal, op.slot, op.peer.value());
    const auto value = static_cast<std::int64_t>(op.value + op.per_run * (step.call - 1));
    std::int64_t& held = histories[cell].after[step.call];
    if (op.notify_op == NotifyOp::set) is_set[cell][step.call] = true;
    held = op.notify_op == NotifyOp::set ? value : held + value;
    histories[cell].last[step.call - 1] = {.rank = step.rank, .step = step.step, .call = step.call};
  }
  for (std::size_t cell = 0; cell < histories.size(); ++cell)
    for (std::size_t c = 1; c <= calls; ++c)
      if (!is_set[cell][c]) histories[cell].after[c] += histories[cell].after[c - 1];
  return histories;
}

// The call whose growth differs from that of the call `period` before it; 0: none.
std::size_t uneven_call(const History& history, std::size_t period) {
  const auto growth = [&](std::size_t c) { return history.after[c] - history.after[c - 1]; };
  for (std::size_t c = period + 1; c < history.after.size(); ++c)
    if (growth(c) != growth(c - period)) return c;
  return 0;
}

void add_finding(Machine& machine, CheckFault fault, std::size_t cell, const Access& culprit, std::string detail) {
  machine.findings.push_back(
      {.fault = fault, .culprits = {culprit}, .cell = static_cast<std::uint32_t>(cell), .detail = std::move(detail)});
}

void check_protocol(Machine& machine, std::size_t cell, const History& history) {
  const SignalSpec& spec = spec_of(machine, cell);
  const std::string_view name = name_of(*spec.protocol);
  if (is_credits(spec)) {
    for (std::size_t c = 1; c < history.after.size(); ++c)
      if (history.after[c] != history.after[0])
        return add_finding(machine, CheckFault::contract, cell, history.last[c - 1],
                           fmt::format("holds {} after call {}, and {} promises {} between calls", history.after[c], c,
                                       name, history.after[0]));
    return;
  }
  const std::size_t c = uneven_call(history, spec.protocol == Protocol::parity ? 2 : 1);
  if (c == 0) return;
  add_finding(machine, CheckFault::contract, cell, history.last[c - 1],
              fmt::format("grows by {} in call {} and by {} in call {}, and {} promises that every call adds the same",
                          history.after[1] - history.after[0], 1, history.after[c] - history.after[c - 1], c, name));
}

// A counter of few bits that every call moves on wraps one day, even if that day is not explored.
void check_growth(Machine& machine, std::size_t cell, const History& history) {
  const SignalSpec& spec = spec_of(machine, cell);
  const std::size_t calls = history.after.size() - 1;
  if (spec.bits > 62 || (calls < 2 && !machine.signals.is_add_only(cell))) return;
  const std::size_t window = calls < 2 ? 1 : 2;
  const std::int64_t growth = history.after[calls] - history.after[calls - window];
  if (growth <= 0) return;
  const std::int64_t room = (std::int64_t{1} << spec.bits) - 1 - history.after[calls];
  const std::int64_t call = static_cast<std::int64_t>(calls) + room * static_cast<std::int64_t>(window) / growth + 1;
  add_finding(machine, CheckFault::overflow, cell, history.last[calls - 1],
              fmt::format("grows with every call and passes its {} bits in call {}", spec.bits, call));
}

}  // namespace

void check_contract(Machine& machine, std::span<const StepRecord> run, const State& end) {
  const std::vector<History> histories = histories_of(machine, run);
  for (std::size_t cell = 0; cell < histories.size() && machine.findings.empty(); ++cell) {
    const bool known = machine.signals.is_add_only(cell) || machine.signals.kind(cell) == CellKind::rising_value;
    if (!known) continue;
    if (spec_of(machine, cell).protocol) check_protocol(machine, cell, histories[cell]);
    if (machine.findings.empty()) check_growth(machine, cell, histories[cell]);
  }
  if (machine.findings.empty()) check_final_values(machine, end);
}

void check_final_values(Machine& machine, const State& end) {
  for (std::size_t cell = 0; cell < end.signals.size(); ++cell) {
    const SignalSpec& spec = spec_of(machine, cell);
    if (!spec.protocol || !is_credits(spec) || end.signals[cell].value == machine.start_of(cell)) continue;
    const auto owner = static_cast<std::uint32_t>(machine.signals.owner_of(cell));
    add_finding(machine, CheckFault::contract, cell, {.rank = owner, .step = end.ranks[owner].steps},
                fmt::format("holds {} after call {}, and {} promises {} between calls", end.signals[cell].value,
                            machine.calls(), name_of(*spec.protocol), machine.start_of(cell)));
    return;
  }
}

}  // namespace reshard::explore
