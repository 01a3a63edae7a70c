// Notifications and waits: what is exchanged, and what proves that their order is the only one.
#include <algorithm>

#include <fmt/format.h>

#include "program/check/machine.h"

namespace reshard::explore {

std::size_t Machine::HashNotification::operator()(const Notification& n) const {
  std::uint64_t hash = mixed(n.before, n.rank);
  hash = mixed(mixed(hash, n.step), n.clock);
  return mixed(hash, static_cast<std::uint64_t>(n.sum));
}

std::int64_t Machine::value_of(const Operation& operation, std::uint32_t call) const {
  return static_cast<std::int64_t>(operation.value + operation.per_run * (call - 1));
}

bool Machine::passes(const Operation& wait, std::int64_t value, std::uint32_t call) const {
  const std::int64_t awaited = value_of(wait, call);
  return wait.compare == WaitCompare::equal ? value == awaited : value >= awaited;
}

bool Machine::knows(ClockId clock, std::uint32_t rank, const Notification& notification) const {
  return notification.rank == rank || clocks.steps(clock, notification.rank) >= notification.step;
}

void Machine::explore_orders(std::size_t cell) const {
  signals.make_hot(cell);
  throw Restart{};
}

void Machine::notify(State& state, std::uint32_t rank, const Operation& op) {
  const auto peer = static_cast<std::uint32_t>(op.peer.value());
  const std::size_t cell = signals.cell(op.signal, op.slot, peer);
  const RankState& at = state.ranks[rank];
  const std::int64_t value = value_of(op, at.call);
  ClockId clock = clocks.with_steps(at.clock, rank, at.steps);
  if (options_.ordered_puts)
    clock = clocks.with_puts(clock, rank, peer, state.puts[rank * static_cast<std::size_t>(ranks_) + peer]);
  const CellKind kind = signals.kind(cell);
  if (kind == CellKind::rising_sum || (kind == CellKind::counter && !signals.is_hot(cell)))
    return add_to_sum(state, rank, cell, value, clock);
  SignalState& signal = state.signals[cell];
  if (kind == CellKind::rising_value && value < signal.value) {
    signals.falls(cell);
    throw Restart{};
  }
  if (kind == CellKind::general && !signals.is_hot(cell)) check_order(state, rank, cell);
  const bool sets = op.notify_op == NotifyOp::set;
  signal.value = sets ? value : signal.value + value;
  signal.release = sets ? clock : clocks.join(signal.release, clock);
  if (!signals.is_hot(cell))
    signal.chain = chains_.number_of(
        {.before = signal.chain, .rank = rank, .step = at.steps, .clock = clock, .sum = signal.value, .delta = value});
  check_value_range(rank, cell, signal.value, at.steps);
}

void Machine::add_to_sum(State& state, std::uint32_t rank, std::size_t cell, std::int64_t value, ClockId clock) {
  SignalState& signal = state.signals[cell];
  const bool own = signals.owner_of(cell) == rank;
  std::uint32_t& chain = own ? signal.own_chain : signal.chain;
  const std::int64_t before = chains_[chain].sum;
  chain = chains_.number_of({.before = chain,
                             .rank = rank,
                             .step = state.ranks[rank].steps,
                             .clock = clock,
                             .sum = before + value,
                             .delta = value});
  signal.value += value;
  if (own) signal.own += value;
  const auto owner = static_cast<std::uint32_t>(signals.owner_of(cell));
  // A wait that needed others might have been passed by this one.
  if (!own && signal.last_wait != 0 && clocks.steps(clock, owner) < signal.last_wait) explore_orders(cell);
  check_sum_range(state, rank, cell, clock);
}

// All notifications and waits of the cell so far come before this notification, whatever happens.
void Machine::check_order(const State& state, std::uint32_t rank, std::size_t cell) const {
  const SignalState& signal = state.signals[cell];
  const ClockId clock = state.ranks[rank].clock;
  const auto owner = static_cast<std::uint32_t>(signals.owner_of(cell));
  if (signal.chain != 0 && !knows(clock, rank, chains_[signal.chain])) explore_orders(cell);
  if (rank != owner && signal.last_wait > clocks.steps(clock, owner)) explore_orders(cell);
}

// The least and the greatest that the counter may hold at this moment of this rank.
void Machine::check_sum_range(const State& state, std::uint32_t rank, std::size_t cell, ClockId clock) {
  const SignalState& signal = state.signals[cell];
  const auto owner = static_cast<std::uint32_t>(signals.owner_of(cell));
  if (rank == owner) {
    std::int64_t least = start_of(cell) + signal.own;
    for (std::uint32_t n = signal.chain; n != 0; n = chains_[n].before)
      if (knows(clock, rank, chains_[n])) least += chains_[n].delta;
    if (least < 0) return check_value_range(rank, cell, least, state.ranks[rank].steps);
    return check_value_range(rank, cell, signal.value, state.ranks[rank].steps);
  }
  std::int64_t most = signal.own;
  std::uint32_t n = signal.own_chain;
  for (; n != 0 && !knows(clock, rank, chains_[n]); n = chains_[n].before) most = std::max(most, chains_[n].sum);
  most = std::max(most, chains_[n].sum);
  check_value_range(rank, cell, start_of(cell) + chains_[signal.chain].sum + most, state.ranks[rank].steps);
}

void Machine::check_value_range(std::uint32_t rank, std::size_t cell, std::int64_t value, std::uint32_t step) {
  const SignalSpec& spec = signal_specs()[static_cast<std::size_t>(signals.signal_of(cell))];
  const bool too_great = spec.bits < 63 && value >= std::int64_t{1} << spec.bits;
  if (value >= 0 && !too_great) return;
  findings.push_back({.fault = CheckFault::overflow,
                      .culprits = {{.rank = rank, .step = step}},
                      .cell = static_cast<std::uint32_t>(cell),
                      .detail = value < 0 ? fmt::format("goes below zero, to {}", value)
                                          : fmt::format("reaches {}, past its {} bits", value, spec.bits)});
}

void Machine::acquire(State& state, std::uint32_t rank, const Operation& wait) {
  const std::size_t cell = signals.cell(wait.signal, wait.slot, rank);
  RankState& at = state.ranks[rank];
  SignalState& signal = state.signals[cell];
  ClockId acquired = signal.release;
  if (signals.is_hot(cell)) {
    // What is acquired is what happened in this order.
  } else if (signals.kind(cell) == CellKind::general) {
    check_only_prefix(state, rank, cell, wait);
    signal.last_wait = at.steps;
  } else if (signals.kind(cell) == CellKind::counter) {
    acquired = least_count(state, rank, cell, wait);
  } else {
    acquired = least_rise(state, rank, cell, wait);
  }
  at.clock = clocks.join(at.clock, acquired);
}

// The wait could have passed as soon as this much was there, and orders no more.
ClockId Machine::least_rise(const State& state, std::uint32_t rank, std::size_t cell, const Operation& wait) const {
  const SignalState& signal = state.signals[cell];
  const bool sums = signals.kind(cell) == CellKind::rising_sum;
  const std::int64_t awaited = value_of(wait, state.ranks[rank].call);
  const std::int64_t needed = sums ? awaited - start_of(cell) - signal.own : awaited;
  if (needed <= (sums ? 0 : start_of(cell))) return Clocks::kNothing;
  std::uint32_t least = signal.chain;
  while (chains_[least].before != 0 && chains_[chains_[least].before].sum >= needed) least = chains_[least].before;
  return chains_[least].clock;
}

// Of a counter with several writers: nothing if what the rank knows of suffices, everything if everything is needed.
ClockId Machine::least_count(State& state, std::uint32_t rank, std::size_t cell, const Operation& wait) {
  SignalState& signal = state.signals[cell];
  const RankState& at = state.ranks[rank];
  const std::int64_t awaited = value_of(wait, at.call);
  std::int64_t known = start_of(cell) + signal.own;
  std::vector<std::uint32_t> unknown;
  for (std::uint32_t n = signal.chain; n != 0; n = chains_[n].before) {
    if (knows(at.clock, rank, chains_[n]))
      known += chains_[n].delta;
    else
      unknown.push_back(n);
  }
  if (known >= awaited) return Clocks::kNothing;
  ClockId acquired = Clocks::kNothing;
  for (const std::uint32_t n : unknown) {
    const Notification& last = chains_[n];
    const bool before_another = std::ranges::any_of(unknown, [&](std::uint32_t other) {
      return other != n && clocks.steps(chains_[other].clock, last.rank) >= last.step;
    });
    if (!before_another && signal.value - last.delta >= awaited) explore_orders(cell);
    acquired = clocks.join(acquired, last.clock);
  }
  signal.last_wait = at.steps;
  return acquired;
}

// No earlier value that the rank might have met lets it pass.
void Machine::check_only_prefix(const State& state, std::uint32_t rank, std::size_t cell, const Operation& wait) const {
  const RankState& at = state.ranks[rank];
  for (std::uint32_t n = state.signals[cell].chain; n != 0; n = chains_[n].before) {
    if (knows(at.clock, rank, chains_[n])) return;
    const std::uint32_t before = chains_[n].before;
    if (passes(wait, before == 0 ? start_of(cell) : chains_[before].sum, at.call)) explore_orders(cell);
  }
}

}  // namespace reshard::explore
