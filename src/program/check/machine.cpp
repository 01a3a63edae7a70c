#include "program/check/machine.h"

#include <algorithm>

#include "base/fail.h"

namespace reshard::explore {
namespace {

std::vector<WindowSpec> all_windows(const CheckInput& input) {
  std::vector<WindowSpec> windows;
  for (const Program& call : input.calls) {
    for (std::size_t w = 0; w < call.windows.size(); ++w) {
      if (w == windows.size()) windows.push_back(call.windows[w]);
      for (std::size_t r = 0; r < windows[w].bytes.size(); ++r)
        windows[w].bytes[r] = std::max(windows[w].bytes[r], call.windows[w].bytes[r]);
    }
  }
  return windows;
}

}  // namespace

Machine::Machine(const CheckInput& input, const CheckOptions& options, Granularity& granularity, SignalCells& cells,
                 std::chrono::steady_clock::time_point ends)
    : deadline(ends),
      clocks(input.calls.front().ranks, options.ordered_puts),
      signals(cells),
      input_(input),
      options_(options),
      granularity_(granularity),
      ranks_(input.calls.front().ranks),
      windows_(all_windows(input)) {
  words_.number_of({});
  accesses_.number_of({});
  chains_.number_of({});
  for (std::size_t w = 0; w < windows_.size(); ++w) cell_bytes_.push_back(granularity.cell_bytes(static_cast<int>(w)));
  for (Index r = 0; r < ranks_; ++r) {
    std::vector<std::size_t>& first = first_cell_.emplace_back();
    for (std::size_t w = 0; w < windows_.size(); ++w) {
      first.push_back(n_cells_);
      n_cells_ += static_cast<std::size_t>(windows_[w].bytes[static_cast<std::size_t>(r)] / cell_bytes_[w]);
    }
  }
  for (const Program& call : input.calls) {
    for (Index r = 0; r < ranks_; ++r) {
      const std::vector<Operation>& operations = call.operations[static_cast<std::size_t>(r)];
      lists_.emplace_back(std::shared_ptr<const void>(), &operations);
      for (const Operation& operation : operations) {
        has_deferred_ = has_deferred_ || operation.code == OpCode::deferred;
        const std::string fault = bounds_fault(operation, static_cast<std::uint32_t>(r));
        if (!fault.empty()) fail(Code::invalid_argument, "program {}, rank {}: {}", call.name, r, fault);
      }
    }
  }
  prepare_expectations();
}

State Machine::start() {
  State state;
  state.ranks.resize(static_cast<std::size_t>(ranks_));
  for (std::uint32_t r = 0; r < state.ranks.size(); ++r) state.ranks[r].list = r;
  state.signals.resize(signals.size());
  for (std::size_t cell = 0; cell < signals.size(); ++cell) state.signals[cell].value = start_of(cell);
  state.cells.resize(n_cells_);
  if (options_.ordered_puts) state.puts.resize(static_cast<std::size_t>(ranks_ * ranks_));
  fill_start(state);
  return state;
}

std::int64_t Machine::start_of(std::size_t cell) const {
  const auto& starts = signal_specs()[static_cast<std::size_t>(signals.signal_of(cell))].starts;
  if (starts.empty()) return 0;
  return static_cast<std::int64_t>(
      starts[static_cast<std::size_t>(signals.owner_of(cell))][static_cast<std::size_t>(signals.slot_of(cell))]);
}

void Machine::leave_finished_lists(RankState& at) const {
  while (at.at == list(at.list).size() && at.parent != 0) {
    const std::vector<std::uint32_t>& parent = words_[at.parent];
    at.list = parent[0];
    at.at = parent[1];
    at.parent = parent[2];
  }
}

const Operation* Machine::next(const State& state, std::uint32_t rank) const {
  RankState at = state.ranks[rank];
  if (at.call > calls() || at.begun == 0) return nullptr;
  leave_finished_lists(at);
  return at.at == list(at.list).size() ? nullptr : &list(at.list)[at.at];
}

// Of an operation that another stands for, the number of the other.
std::uint32_t Machine::position(const RankState& rank) const {
  std::uint32_t at = rank.at, parent = rank.parent;
  while (parent != 0) {
    at = words_[parent][1] - 1;
    parent = words_[parent][2];
  }
  return at;
}

std::vector<std::pair<const Operation*, std::uint32_t>> Machine::rest(const State& state, std::uint32_t rank) const {
  std::vector<std::pair<const Operation*, std::uint32_t>> operations;
  RankState at = state.ranks[rank];
  for (leave_finished_lists(at); at.call <= calls(); leave_finished_lists(at)) {
    for (; at.at < list(at.list).size(); ++at.at) operations.emplace_back(&list(at.list)[at.at], at.call);
    if (at.parent != 0) continue;
    ++at.call;
    at.at = 0;
    if (at.call <= calls()) at.list = (at.call - 1) * static_cast<std::uint32_t>(ranks_) + rank;
  }
  return operations;
}

bool Machine::is_enabled(const State& state, std::uint32_t rank) {
  const Operation* op = next(state, rank);
  if (op == nullptr || op->code != OpCode::wait) return state.ranks[rank].call <= calls();
  return passes(*op, state.signals[signals.cell(op->signal, op->slot, rank)].value, state.ranks[rank].call);
}

// A wait that nobody can make fail again is best passed now: passing later orders it behind more, never behind less.
bool Machine::passes_at_once(const Operation& op, std::uint32_t call, std::size_t cell) const {
  return op.code == OpCode::wait && op.compare == WaitCompare::greater_equal &&
         signals.keeps_at_least(cell, value_of(op, call));
}

Machine::Outcome Machine::run(State& state, std::uint32_t rank, bool hot) {
  RankState& at = state.ranks[rank];
  if (at.call > calls()) return Outcome::finished;
  const Operation* op = next(state, rank);
  if (op != nullptr && (op->code == OpCode::wait || op->code == OpCode::notify)) {
    const Index owner = op->code == OpCode::wait ? rank : op->peer.value();
    const std::size_t cell = signals.cell(op->signal, op->slot, owner);
    const bool enabled = is_enabled(state, rank);
    if (!hot && signals.is_hot(cell) && !(enabled && passes_at_once(*op, at.call, cell))) return Outcome::hot;
    if (!enabled) return Outcome::blocked;
  }
  look_at_clock();
  ++transitions;
  ++at.steps;
  if (op != nullptr) {
    leave_finished_lists(at);
    const std::uint32_t here = position(at);
    ++at.at;
    perform(state, rank, *op);
    note(state, rank, StepRecord::Kind::operation, op);
    if (record != nullptr) record->back().position = here;
  } else {
    at.begun == 0 ? begin_call(state, rank) : end_call(state, rank);
  }
  return Outcome::ran;
}

// One step may reach millions of cells.
void Machine::look_at_clock() {
  constexpr Index kEvery = 4096;
  if (--steps_until_look_ > 0) return;
  steps_until_look_ = kEvery;
  if (std::chrono::steady_clock::now() >= deadline) throw OutOfTime{};
}

void Machine::note(const State& state, std::uint32_t rank, StepRecord::Kind kind, const Operation* operation) {
  if (record == nullptr) return;
  const RankState& at = state.ranks[rank];
  record->push_back({.kind = kind,
                     .rank = rank,
                     .call = at.call,
                     .position = position(at),
                     .step = at.steps,
                     .clock = clocks.with_steps(at.clock, rank, at.steps),
                     .operation = operation == nullptr ? Operation{} : *operation});
}

void Machine::perform(State& state, std::uint32_t rank, const Operation& op) {
  switch (op.code) {
    case OpCode::copy:
    case OpCode::put:
    case OpCode::get: return move(state, rank, op);
    case OpCode::notify: return notify(state, rank, op);
    case OpCode::wait: return acquire(state, rank, op);
    case OpCode::fence: {
      RankState& at = state.ranks[rank];
      at.clock = clocks.with_fences(at.clock, rank, ++at.fences);
      return;
    }
    case OpCode::reduce:
    case OpCode::cast: return reduce(state, rank, op);
    case OpCode::fill: return fill(state, rank, op);
    case OpCode::deferred: return expand(state, rank, op);
  }
}

void Machine::next_call(State& state, std::uint32_t rank) {
  RankState& at = state.ranks[rank];
  ++at.call;
  at.begun = 0;
  at.at = at.parent = 0;
  if (at.call <= calls()) at.list = (at.call - 1) * static_cast<std::uint32_t>(ranks_) + rank;
}

void Machine::stop(State& state, std::uint32_t rank, Finding finding) {
  RankState& at = state.ranks[rank];
  finding.culprits.push_back({.rank = rank, .step = at.steps, .call = at.call});
  findings.push_back(std::move(finding));
  at.at = static_cast<std::uint32_t>(list(at.list).size());
  at.parent = 0;
}

}  // namespace reshard::explore
