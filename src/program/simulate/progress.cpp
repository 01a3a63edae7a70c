#include "program/simulate/progress.h"

#include <fmt/format.h>

namespace reshard::simulation {

void Progress::begin(CallProgram program, RankId rank) {
  program_ = std::move(program);
  const auto& operations = program_.program->operations.at(static_cast<std::size_t>(rank.value()));
  frames_ = {{std::shared_ptr<const std::vector<Operation>>(program_.program, &operations), 0}};
  inside_ = true;
  ++call_;
  drop_finished();
}

std::shared_ptr<const Operation> Progress::next() const {
  if (frames_.empty()) return nullptr;
  const Frame& frame = frames_.back();
  return {frame.operations, &(*frame.operations)[frame.next]};
}

void Progress::advance() {
  ++frames_.back().next;
  drop_finished();
}

void Progress::advance_into(std::vector<Operation> operations) {
  ++frames_.back().next;
  frames_.push_back({std::make_shared<const std::vector<Operation>>(std::move(operations)), 0});
  drop_finished();
}

void Progress::drop_finished() {
  while (!frames_.empty() && frames_.back().next == frames_.back().operations->size()) frames_.pop_back();
}

std::vector<const Operation*> Progress::rest() const {
  std::vector<const Operation*> operations;
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
    for (std::size_t i = frame->next; i < frame->operations->size(); ++i)
      operations.push_back(&(*frame->operations)[i]);
  return operations;
}

namespace {

std::string plain_text(const Program& program, const Operation& operation) {
  const auto window = [&](int w) -> std::string_view { return program.windows.at(static_cast<std::size_t>(w)).name; };
  switch (operation.code) {
    case OpCode::copy:
      return fmt::format("copy {} <- {}", window(operation.target_window), window(operation.source_window));
    case OpCode::put:
      return fmt::format("put {}@{} <- {}", window(operation.target_window), operation.peer.value(),
                         window(operation.source_window));
    case OpCode::get:
      return fmt::format("get {} <- {}@{}", window(operation.target_window), window(operation.source_window),
                         operation.peer.value());
    case OpCode::fill: return fmt::format("fill {}", window(operation.target_window));
    case OpCode::reduce: return fmt::format("reduce by {}", name_of(operation.reduce_op));
    case OpCode::cast: return fmt::format("cast to {}", name_of(operation.dtype));
    case OpCode::fence: return "fence";
    case OpCode::deferred: return "deferred";
    case OpCode::notify:
    case OpCode::wait: break;
  }
  return {};
}

}  // namespace

std::string cell_text(const Program& program, const Operation& operation) {
  const auto from = operation.label.find(' '), to = operation.label.rfind(']');
  if (operation.code == OpCode::wait && from != std::string::npos && to != std::string::npos)
    return operation.label.substr(from + 1, to - from);
  return fmt::format("{}[{}]", program.signals.at(static_cast<std::size_t>(operation.signal)).name, operation.slot);
}

std::string operation_text(const Program& program, const Operation& operation, std::uint64_t run) {
  const auto signed_value = static_cast<std::int64_t>(value_in_run(operation, run));
  if (operation.code == OpCode::wait)
    return fmt::format("wait {} {} {}", cell_text(program, operation),
                       operation.compare == WaitCompare::equal ? "==" : ">=", value_in_run(operation, run));
  if (operation.code != OpCode::notify)
    return operation.label.empty() ? plain_text(program, operation) : operation.label;
  if (!operation.label.empty())  // all but the value, which stands last
    return fmt::format("{} {}", operation.label.substr(0, operation.label.rfind(' ')), signed_value);
  return fmt::format("notify {}@{}[{}] {} {}", program.signals.at(static_cast<std::size_t>(operation.signal)).name,
                     operation.peer.value(), operation.slot,
                     operation.notify_op == NotifyOp::set ? "=" : "+=", signed_value);
}

}  // namespace reshard::simulation
