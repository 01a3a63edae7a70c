#include "reshard/executor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/fail.h"
#include "exec/steps.h"
#include "kernel/copy.h"
#include "kernel/rows.h"
#include "reshard/unroll.h"

namespace reshard {
namespace {

void check_world(const Program& program, const Endpoint& endpoint) {
  if (program.ranks != endpoint.ranks() || program.operations.size() != static_cast<std::size_t>(program.ranks)) {
    fail(Code::invalid_argument, "program {} is for {} ranks, but the fabric has {}; plan it for this world",
         program.name, program.ranks, endpoint.ranks());
  }
  for (const WindowSpec& window : program.windows) {
    if (window.bytes.size() == static_cast<std::size_t>(program.ranks)) continue;
    fail(Code::invalid_argument, "program {}: window {} lists sizes of {} ranks, not {}", program.name, window.name,
         window.bytes.size(), program.ranks);
  }
}

// What is said about windows and signals.
std::unique_ptr<const Program> without_operations(const Program& program) {
  auto kept = std::make_unique<Program>();
  kept->name = program.name;
  kept->ranks = program.ranks;
  kept->signals = program.signals;
  for (const WindowSpec& window : program.windows)
    kept->windows.push_back({.name = window.name, .bytes = window.bytes, .role = window.role, .dtype = window.dtype});
  return kept;
}

class BoundMemory final : public MemoryReader {
 public:
  BoundMemory(const Program& program, std::span<const std::span<std::byte>> memory)
      : program_(program), memory_(memory) {}

  Index integer(int window, Index offset, Dtype dtype) override {
    const std::span<std::byte> bytes = memory_[static_cast<std::size_t>(window)];
    if (offset < 0 || offset > static_cast<Index>(bytes.size()) - bytes_of(dtype))
      fail(Code::invalid_argument, "reads bytes [{}, {}) of {}, which has {}", offset, offset + bytes_of(dtype),
           program_.windows[static_cast<std::size_t>(window)].name, bytes.size());
    return read_element(dtype, bytes.data() + offset);
  }

 private:
  const Program& program_;
  std::span<const std::span<std::byte>> memory_;
};

}  // namespace

Traffic operator+(const Traffic& a, const Traffic& b) {
  return {.bytes_got = a.bytes_got + b.bytes_got,
          .bytes_put = a.bytes_put + b.bytes_put,
          .bytes_copied = a.bytes_copied + b.bytes_copied,
          .bytes_reduced = a.bytes_reduced + b.bytes_reduced,
          .gets = a.gets + b.gets,
          .puts = a.puts + b.puts,
          .notifications = a.notifications + b.notifications,
          .waits = a.waits + b.waits};
}

Executor::Executor(const Program& program, Endpoint& endpoint) : endpoint_(&endpoint) {
  check_world(program, endpoint);
  program_ = without_operations(program);
  steps_ = std::make_unique<Steps>(*program_, endpoint);
  now_ = std::make_unique<Steps>(*program_, endpoint);
  for (const Operation& operation : program.operations[static_cast<std::size_t>(endpoint.rank().value())]) {
    try {
      steps_->add(operation);
    } catch (const Error& error) {
      throw Error(
          error.code(),
          fmt::format("program {}, rank {}, operation {}{}: {}", program.name, endpoint.rank().value(), steps_->size(),
                      operation.label.empty() ? "" : fmt::format(" ({})", operation.label), error.what()));
    }
  }
  steps_->finish();
}

Executor::Executor(Executor&&) noexcept = default;
Executor::~Executor() = default;

Index Executor::operations() const { return static_cast<Index>(steps_->size()); }

void Executor::bind(Binding binding) {
  const std::size_t windows = program_->windows.size(), signals = program_->signals.size();
  if (binding.windows.size() != windows || binding.signals.size() != signals) {
    fail(Code::invalid_argument, "program {} has {} windows and {} signals, but {} and {} were given", program_->name,
         windows, signals, binding.windows.size(), binding.signals.size());
  }
  binding.memory.resize(windows);
  for (const Need& need : steps_->needs()) check_need(need, binding);
  memory_.clear();
  for (std::size_t w = 0; w < windows; ++w) {
    const WindowId id = binding.windows[w];
    memory_.push_back(id.value < 0 ? binding.memory[w] : endpoint_->memory(id));
  }
  binding_ = std::move(binding);
  steps_->reach(*endpoint_, binding_);
  bound_ = true;
}

void Executor::check_need(const Need& need, const Binding& binding) const {
  const auto w = static_cast<std::size_t>(need.window);
  const WindowId id = binding.windows[w];
  const std::string& name = program_->windows[w].name;
  if (id.value < 0 && need.far)
    fail(Code::invalid_argument,
         "program {}: peers reach {}, but it is bound to memory of this rank alone; bind a window", program_->name,
         name);
  const Index there =
      id.value < 0 ? static_cast<Index>(binding.memory[w].size()) : endpoint_->window_bytes(id, need.rank);
  if (there >= need.bytes) return;
  fail(Code::invalid_argument, "program {}: window {} needs {} bytes on rank {}, but the buffer there has {}",
       program_->name, name, need.bytes, need.rank.value(), there);
}

void Executor::run(std::uint64_t run, Clock::time_point deadline) {
  if (!bound_)
    fail(Code::invalid_argument, "program {} is not bound to windows and signals; call bind first", program_->name);
  counting_ = {};
  refused_ = false;
  try {
    for (at_ = 0; at_ < steps_->size(); ++at_) execute(*steps_, (*steps_)[at_], run, deadline);
  } catch (const Error& error) {
    if (refused_) throw;
    const Step& step = (*steps_)[at_];
    throw Error(error.code(),
                fmt::format("program {}, operation {} of rank {} ({}): {}{}", program_->name, at_,
                            endpoint_->rank().value(), steps_->describe(step), error.what(), who_is_missing(step)));
  }
  kernel::finish_streaming();
  traffic_ = counting_;
}

// Of a wait that has failed.
std::string Executor::who_is_missing(const Step& step) const {
  if (step.code != OpCode::wait || !program_->signals[static_cast<std::size_t>(step.signal)].is_by_rank) return {};
  return fmt::format("; rank {} has not notified", step.slot);
}

void Executor::execute(Steps& steps, const Step& step, std::uint64_t run, Clock::time_point deadline) {
  switch (step.code) {
    case OpCode::copy:
    case OpCode::get:
    case OpCode::put: return move(steps, step, deadline);
    case OpCode::notify:
    case OpCode::wait: return signal(step, run, deadline);
    case OpCode::fence: kernel::finish_streaming(); return endpoint_->fence();
    case OpCode::reduce:
      steps.folds().run(step.first_fold, step.folds, memory_);
      counting_.bytes_reduced += step.bytes;
      return;
    case OpCode::fill:
      for (const StridedCopy& copy : steps.copies(step))
        copy_strided(memory_[static_cast<std::size_t>(step.target_window)].data(), step.filler.data(), copy);
      return;
    case OpCode::cast:
      if (step.far != nullptr)
        steps.casts().run_far(step.first_cast, step.far, memory_);
      else
        steps.casts().run(step.first_cast, step.casts, memory_);
      counting_.bytes_copied += step.bytes;
      return;
    case OpCode::deferred: return execute_deferred(step, run, deadline);
  }
}

void Executor::move(const Steps& steps, const Step& step, Clock::time_point deadline) {
  const auto source = static_cast<std::size_t>(step.source_window);
  const auto target = static_cast<std::size_t>(step.target_window);
  const bool is_read_there = step.feeds_cast && step.far != nullptr;
  for (const StridedCopy& copy : is_read_there ? std::span<const StridedCopy>() : steps.copies(step)) {
    if (step.code == OpCode::copy) {
      copy_strided(memory_[target].data(), memory_[source].data(), copy);
    } else if (step.code == OpCode::get && step.far != nullptr) {
      copy_strided(memory_[target].data(), step.far, copy);
    } else if (step.code == OpCode::get) {
      endpoint_->get(step.peer, binding_.windows[source], copy, memory_[target]);
    } else if (step.far != nullptr) {
      copy_strided(step.far, memory_[source].data(), copy);
    } else if (step.combine == nullptr) {
      endpoint_->put(step.peer, binding_.windows[target], copy, memory_[source]);
    } else {
      endpoint_->accumulate(step.peer, binding_.windows[target], copy, memory_[source], step.combine, deadline);
    }
  }
  if (step.code == OpCode::copy) {
    counting_.bytes_copied += step.bytes;
  } else if (step.code == OpCode::get) {
    counting_.bytes_got += step.bytes;
    ++counting_.gets;
  } else {
    counting_.bytes_put += step.bytes;
    ++counting_.puts;
  }
}

void Executor::signal(const Step& step, std::uint64_t run, Clock::time_point deadline) {
  const SignalId id = binding_.signals[static_cast<std::size_t>(step.signal)];
  const std::uint64_t value = step.value + run * step.per_run;
  if (step.code == OpCode::notify) {
    kernel::finish_streaming();
    endpoint_->notify(step.peer, id, step.slot, value, step.update);
    ++counting_.notifications;
  } else {
    endpoint_->wait(id, step.slot, value, step.until, deadline);
    ++counting_.waits;
  }
}

// A stack and no recursion: what an operation stands for may hold deferred operations again.
void Executor::execute_deferred(const Step& step, std::uint64_t run, Clock::time_point deadline) {
  pending_.clear();
  expand(*step.deferred);
  while (!pending_.empty()) {
    const Operation operation = std::move(pending_.back());
    pending_.pop_back();
    operation.code == OpCode::deferred ? expand(*operation.deferred) : execute_now(operation, run, deadline);
  }
}

void Executor::expand(const Deferred& deferred) {
  BoundMemory memory(*program_, memory_);
  expanded_.clear();
  try {
    deferred.expand(memory, expanded_);
  } catch (const Error& error) {
    refused_ = error.code() == Code::invalid_argument;
    throw;
  }
  std::ranges::move(expanded_.rbegin(), expanded_.rend(), std::back_inserter(pending_));
}

void Executor::execute_now(const Operation& operation, std::uint64_t run, Clock::time_point deadline) {
  try {
    now_->clear();
    now_->add(operation);
    now_->finish();
    execute(*now_, (*now_)[0], run, deadline);
  } catch (const Error& error) {
    if (operation.label.empty()) throw;
    throw Error(error.code(), fmt::format("{}: {}", operation.label, error.what()));
  }
}

}  // namespace reshard
