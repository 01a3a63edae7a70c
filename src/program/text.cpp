// The text of a program: a head line, windows, signals, then one operation a line under each rank that has any.
#include <fmt/format.h>

#include <iterator>

#include "reshard/program.h"

namespace reshard {
namespace {

using Out = std::back_insert_iterator<std::string>;

void write(Out out, const Block& block) {
  fmt::format_to(out, " [{} -> {} row {}", block.source_offset, block.target_offset, block.row_bytes);
  for (const Loop& loop : block.loops) {
    fmt::format_to(out, " x {}({}, {})", loop.count, loop.source_stride, loop.target_stride);
  }
  fmt::format_to(out, "]");
}

// "1" or, for a value that grows by 1 with every run, "1+1k".
std::string value_text(const Operation& op) {
  return op.per_run == 0 ? fmt::format("{}", op.value) : fmt::format("{}+{}k", op.value, op.per_run);
}

// "[4 x 16 x source+64(512, 4), staging+0(64, 4) -> target+0(512, 4)]"
void write(Out out, const Program& program, const Reduction& reduction) {
  const auto operand = [&](const Operand& at) {
    return fmt::format("{}+{}({})", program.windows.at(static_cast<std::size_t>(at.window)).name, at.offset,
                       fmt::join(at.strides, ", "));
  };
  fmt::format_to(out, " [");
  for (const Index count : reduction.counts) fmt::format_to(out, "{} x ", count);
  std::string_view separator = "";
  for (const Operand& term : reduction.terms) {
    fmt::format_to(out, "{}{}", separator, operand(term));
    separator = ", ";
  }
  fmt::format_to(out, " -> {}]", operand(reduction.result));
}

void write(Out out, const Program& program, const Operation& op) {
  const auto window = [&](int w) -> std::string_view { return program.windows.at(static_cast<std::size_t>(w)).name; };
  const auto signal = [&] { return std::string_view(program.signals.at(static_cast<std::size_t>(op.signal)).name); };
  const Index peer = op.peer.value();
  switch (op.code) {
    case OpCode::copy:
      fmt::format_to(out, "  copy {} -> {}", window(op.source_window), window(op.target_window));
      break;
    case OpCode::put:
      fmt::format_to(out, "  put {} -> {} on {}", window(op.source_window), window(op.target_window), peer);
      if (op.accumulate) fmt::format_to(out, " accumulate {} {}", name_of(op.dtype), name_of(op.reduce_op));
      break;
    case OpCode::get:
      fmt::format_to(out, "  get {} on {} -> {}", window(op.source_window), peer, window(op.target_window));
      break;
    case OpCode::notify:
      fmt::format_to(out, "  notify {}[{}] on {} {} {}", signal(), op.slot, peer,
                     op.notify_op == NotifyOp::set ? "set" : "add", value_text(op));
      break;
    case OpCode::wait:
      fmt::format_to(out, "  wait {}[{}] {} {}", signal(), op.slot,
                     op.compare == WaitCompare::equal ? "==" : ">=", value_text(op));
      break;
    case OpCode::fence: fmt::format_to(out, "  fence"); break;
    case OpCode::reduce:
      fmt::format_to(out, "  reduce {} {}", name_of(op.dtype), name_of(op.reduce_op));
      if (op.reduce_op == ReduceOp::avg) fmt::format_to(out, " by {}", op.divisor);
      break;
    case OpCode::fill:
      if (op.number) {
        fmt::format_to(out, "  fill {} {} {}", window(op.target_window), name_of(op.dtype), *op.number);
      } else {
        fmt::format_to(out, "  fill {} identity of {} {}", window(op.target_window), name_of(op.dtype),
                       name_of(op.reduce_op));
      }
      break;
    case OpCode::cast: fmt::format_to(out, "  cast {} -> {}", name_of(op.source_dtype), name_of(op.dtype)); break;
    case OpCode::deferred: fmt::format_to(out, "  deferred {}", op.label); break;
  }
  for (const Reduction& reduction : op.reductions) write(out, program, reduction);
  for (const Block& block : op.blocks) write(out, block);
  fmt::format_to(out, "\n");
}

}  // namespace

std::string Program::text() const {
  std::string text = fmt::format("program {} on {} ranks\n", name, ranks);
  const Out out = std::back_inserter(text);
  for (const WindowSpec& window : windows)
    fmt::format_to(out, "window {} bytes {}\n", window.name, fmt::join(window.bytes, " "));
  for (const SignalSpec& signal : signals) fmt::format_to(out, "signal {} slots {}\n", signal.name, signal.slots);
  for (std::size_t r = 0; r < operations.size(); ++r) {
    if (operations[r].empty()) continue;
    fmt::format_to(out, "rank {}\n", r);
    for (const Operation& op : operations[r]) write(out, *this, op);
  }
  return text;
}

}  // namespace reshard
