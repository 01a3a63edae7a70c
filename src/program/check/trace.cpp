#include "program/check/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace reshard::explore {
namespace {

std::string rows_text(const Operation& op, bool source) {
  Index first = 0, bytes = 0;
  for (const Block& block : op.blocks) {
    const Index at = source ? block.source_offset : block.target_offset;
    if (bytes == 0 || at < first) first = at;
    bytes += block.bytes();
  }
  return fmt::format("[{} B from {}]", bytes, first);
}

}  // namespace

void include(Past& past, const Past& other) {
  for (std::size_t r = 0; r < past.size(); ++r) past[r] = std::max(past[r], other[r]);
}

Index length_of(const Past& past) { return std::accumulate(past.begin(), past.end(), Index{0}); }

const StepRecord* Run::find(const Access& access) const {
  const auto at = std::ranges::find_if(
      steps_, [&](const StepRecord& step) { return step.rank == access.rank && step.step == access.step; });
  return at == steps_.end() ? nullptr : &*at;
}

Past Run::past_of(ClockId clock) const {
  Past past(static_cast<std::size_t>(machine_->ranks()));
  for (std::uint32_t r = 0; r < past.size(); ++r) past[r] = machine_->clocks.steps(clock, r);
  return past;
}

Past Run::past_of(const Access& access) const {
  const StepRecord* record = find(access);
  if (record != nullptr) return past_of(record->clock);
  return Past(static_cast<std::size_t>(machine_->ranks()), 0);
}

std::vector<TraceStep> Run::steps_of(const Past& past, std::span<const StepRecord* const> left_out) const {
  std::vector<TraceStep> steps;
  for (const StepRecord& record : steps_) {
    if (record.step > past[record.rank] || record.kind != StepRecord::Kind::operation) continue;
    if (std::ranges::find(left_out, &record) == left_out.end()) steps.push_back(step_of(record));
  }
  return steps;
}

TraceStep Run::step_of(const StepRecord& record) const {
  return {.rank = RankId(record.rank),
          .call = record.call,
          .operation = record.position,
          .text = text_of(record),
          .caller = record.kind != StepRecord::Kind::operation};
}

std::string Run::text_of(const StepRecord& record) const {
  switch (record.kind) {
    case StepRecord::Kind::begin: return fmt::format("the caller gives new inputs for call {}", record.call);
    case StepRecord::Kind::end: return fmt::format("the caller reads the results of call {}", record.call);
    case StepRecord::Kind::operation: break;
  }
  return text_of(record.operation, record.call);
}

std::string Run::text_of(const Operation& op, std::uint32_t call) const {
  if (!op.label.empty()) return op.label;
  const auto window = [&](int w) -> std::string_view { return machine_->windows()[static_cast<std::size_t>(w)].name; };
  const auto signal = [&]() -> std::string_view {
    return machine_->signal_specs()[static_cast<std::size_t>(op.signal)].name;
  };
  const auto value = static_cast<std::int64_t>(op.value + op.per_run * (call - 1));
  const Index peer = op.peer.value();
  switch (op.code) {
    case OpCode::put:
      return fmt::format("put {}@{}{} <- {}{}", window(op.target_window), peer, rows_text(op, false),
                         window(op.source_window), rows_text(op, true));
    case OpCode::get:
      return fmt::format("get {}{} <- {}@{}{}", window(op.target_window), rows_text(op, false),
                         window(op.source_window), peer, rows_text(op, true));
    case OpCode::copy:
      return fmt::format("copy {}{} <- {}{}", window(op.target_window), rows_text(op, false), window(op.source_window),
                         rows_text(op, true));
    case OpCode::notify:
      return fmt::format("notify {}@{}[{}] {} {}", signal(), peer, op.slot,
                         op.notify_op == NotifyOp::set ? "=" : "+=", value);
    case OpCode::wait:
      return fmt::format("wait {}[{}] {} {}", signal(), op.slot, op.compare == WaitCompare::equal ? "==" : ">=", value);
    case OpCode::fence: return "fence";
    case OpCode::fill: return fmt::format("fill {}{}", window(op.target_window), rows_text(op, false));
    case OpCode::reduce:
    case OpCode::cast: {
      const std::string_view word = op.code == OpCode::cast ? "cast" : "reduce";
      return op.reductions.empty() ? std::string(word)
                                   : fmt::format("{} into {}", word, window(op.reductions[0].result.window));
    }
    case OpCode::deferred: break;
  }
  return "what memory says";
}

std::string Run::place(std::uint32_t cell) const {
  const MemoryPlace at = machine_->place_of(cell);
  const auto w = static_cast<std::size_t>(at.window);
  return place_text(machine_->windows()[w], at.rank, at.offset, machine_->cell_bytes()[w]);
}

std::string Run::counter(std::size_t cell) const {
  const SignalSpec& spec = machine_->signal_specs()[static_cast<std::size_t>(machine_->signals.signal_of(cell))];
  return fmt::format("{}[{}]", spec.name, machine_->signals.slot_of(cell));
}

}  // namespace reshard::explore
