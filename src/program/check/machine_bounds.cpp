// What an operation reaches lies where it should.
#include <fmt/format.h>

#include <algorithm>

#include "program/check/machine.h"

namespace reshard::explore {
namespace {

struct Reach {
  Index first = 0;
  Index bytes = 0;
};

// From the first byte to the last; strides may be negative.
Reach reach_of(const Block& block, bool of_source) {
  Reach reach{of_source ? block.source_offset : block.target_offset, block.row_bytes};
  for (const Loop& loop : block.loops) {
    const Index span = (loop.count - 1) * (of_source ? loop.source_stride : loop.target_stride);
    reach.first += std::min<Index>(span, 0);
    reach.bytes += std::max(span, -span);
  }
  return reach;
}

Reach reach_of(const Operand& operand, std::span<const Index> counts, Index element) {
  Reach reach{operand.offset, element};
  for (std::size_t d = 0; d < counts.size(); ++d) {
    const Index span = (counts[d] - 1) * operand.strides[d];
    reach.first += std::min<Index>(span, 0);
    reach.bytes += std::max(span, -span);
  }
  return reach;
}

bool is_empty(const Block& block) {
  return block.row_bytes == 0 || std::ranges::any_of(block.loops, [](const Loop& loop) { return loop.count == 0; });
}

}  // namespace

std::string Machine::bounds_fault(const Operation& op, std::uint32_t rank) const {
  const bool has_peer = op.code == OpCode::put || op.code == OpCode::get || op.code == OpCode::notify;
  const Index peer = op.peer.value();
  if (has_peer && (peer < 0 || peer >= ranks_)) return fmt::format("rank {} is outside [0, {})", peer, ranks_);
  if (op.code == OpCode::notify || op.code == OpCode::wait) {
    const bool known = op.signal >= 0 && static_cast<std::size_t>(op.signal) < signal_specs().size();
    if (!known) return fmt::format("there is no signal {}", op.signal);
    const SignalSpec& spec = signal_specs()[static_cast<std::size_t>(op.signal)];
    if (op.slot < 0 || op.slot >= spec.slots)
      return fmt::format("slot {} of signal {} is outside [0, {})", op.slot, spec.name, spec.slots);
  }
  const auto peer_rank = static_cast<std::uint32_t>(peer);
  for (const Block& block : op.blocks) {
    if (is_empty(block)) continue;
    const Reach target = reach_of(block, false);
    std::string fault =
        range_fault(op.code == OpCode::put ? peer_rank : rank, op.target_window, target.first, target.bytes);
    if (!fault.empty()) return fault;
    if (op.code == OpCode::fill) continue;
    const Reach source = reach_of(block, true);
    fault = range_fault(op.code == OpCode::get ? peer_rank : rank, op.source_window, source.first, source.bytes);
    if (!fault.empty()) return fault;
  }
  for (const Reduction& reduction : op.reductions) {
    if (std::ranges::find(reduction.counts, 0) != reduction.counts.end()) continue;
    const auto fault_of = [&](const Operand& operand, Dtype dtype) {
      const Reach reach = reach_of(operand, reduction.counts, bytes_of(dtype));
      return range_fault(rank, operand.window, reach.first, reach.bytes);
    };
    std::string fault = fault_of(reduction.result, op.dtype);
    for (const Operand& term : reduction.terms)
      if (fault.empty()) fault = fault_of(term, op.code == OpCode::cast ? op.source_dtype : op.dtype);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace reshard::explore
