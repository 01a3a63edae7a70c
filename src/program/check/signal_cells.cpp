#include "program/check/signal_cells.h"

#include <algorithm>

namespace reshard::explore {

SignalCells::SignalCells(std::span<const SignalSpec> signals, Index ranks) : ranks_(ranks) {
  std::size_t slots = 0;
  for (const SignalSpec& signal : signals) {
    first_slot_.push_back(slots);
    slots += static_cast<std::size_t>(signal.slots);
  }
  uses_.resize(slots * static_cast<std::size_t>(ranks));
}

int SignalCells::signal_of(std::size_t cell) const {
  const std::size_t slot = cell / static_cast<std::size_t>(ranks_);
  return static_cast<int>(std::ranges::upper_bound(first_slot_, slot) - first_slot_.begin()) - 1;
}

Index SignalCells::slot_of(std::size_t cell) const {
  return static_cast<Index>(cell / static_cast<std::size_t>(ranks_) -
                            first_slot_[static_cast<std::size_t>(signal_of(cell))]);
}

bool SignalCells::observe(Index rank, Index call, const Operation& op) {
  if (op.code != OpCode::notify && op.code != OpCode::wait) return false;
  const bool is_wait = op.code == OpCode::wait, sets = op.notify_op == NotifyOp::set;
  const std::size_t at = cell(op.signal, op.slot, is_wait ? rank : op.peer.value());
  const CellKind before = kind(at);
  Uses& uses = uses_[at];
  const bool lowered = uses.peer_lowers;
  if (is_wait) {
    uses.equal = uses.equal || op.compare == WaitCompare::equal;
  } else if (op.peer.value() == rank) {
    (sets ? uses.owner_sets : uses.owner_adds) = true;
  } else {
    uses.many_writers = uses.many_writers || (uses.writer >= 0 && uses.writer != rank);
    uses.writer = rank;
    (sets ? uses.peer_sets : uses.peer_adds) = true;
    const auto value = static_cast<Index>(op.value + op.per_run * static_cast<std::uint64_t>(call - 1));
    uses.peer_lowers = uses.peer_lowers || (!sets && value < 0);
    if (sets && value < uses.least_set) {
      uses.least_set = value;
      return true;
    }
  }
  return kind(at) != before || uses.peer_lowers != lowered;
}

CellKind SignalCells::kind(std::size_t cell) const {
  const Uses& uses = uses_[cell];
  if (uses.equal || uses.owner_sets || uses.peer_lowers || uses.falls) return CellKind::general;
  if (uses.peer_sets)
    return uses.peer_adds || uses.owner_adds || uses.many_writers ? CellKind::general : CellKind::rising_value;
  return uses.many_writers ? CellKind::counter : CellKind::rising_sum;
}

}  // namespace reshard::explore
