#include "reshard/replay.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "program/simulate/calls.h"
#include "program/simulate/cells.h"
#include "program/simulate/contents.h"
#include "program/simulate/elements.h"
#include "program/simulate/local_work.h"
#include "program/simulate/memory.h"
#include "program/simulate/progress.h"
#include "program/simulate/strided_rows.h"
#include "program/simulate/touched.h"
#include "reshard/lower.h"

namespace reshard {
namespace simulation {
namespace {

SimulateInput input_of_calls(const SymbolicProgram& lowered, const ReplayOptions& options, Index calls) {
  SimulateInput input;
  for (Index call = 1; call <= calls; ++call)
    input.programs.push_back(unroll(lowered, {.ranks = options.ranks, .sizes = options.sizes, .call = call}));
  std::vector<BufferRole> roles;
  for (const BufferDeclaration& buffer : lowered.buffers)
    if (buffer.viewed.empty()) roles.push_back(buffer.role);
  input.initial = [&lowered, &options, roles](Index call, RankId rank, int window, std::span<std::byte> bytes) {
    // The hidden buffers of casts come behind the declared ones; windows outlive calls.
    const auto number = static_cast<std::size_t>(window);
    if (number >= roles.size() || (call > 1 && roles[number] != BufferRole::input)) return false;
    return fill_initial(lowered, {.ranks = options.ranks, .sizes = options.sizes, .call = call}, rank, window, bytes);
  };
  return input;
}

// A byte alone may well be a value that looks like one.
bool is_poison(const WindowSpec& spec, const std::byte* at) {
  const std::span<const std::byte> bytes(at, static_cast<std::size_t>(bytes_of(spec.dtype)));
  const bool is_poisoned = spec.role == BufferRole::output || spec.role == BufferRole::local;
  return is_poisoned && bytes.size() > 1 && std::ranges::all_of(bytes, [](std::byte b) { return b == kPoison; });
}

std::string element_at(const WindowSpec& spec, const std::byte* at) {
  return is_poison(spec, at) ? "-" : element_text(spec.dtype, at);
}

bool is_arrival_of(const TraceStep& arrival, const TraceStep& put) {
  return arrival.arrival && arrival.rank == put.rank && arrival.call == put.call && arrival.text == put.text;
}

class TraceReplay {
 public:
  TraceReplay(const SymbolicProgram& lowered, std::span<const TraceStep> trace, const ReplayOptions& options)
      : trace_(trace),
        ranks_(options.ranks),
        input_(input_of_calls(lowered, options, last_call(trace))),
        calls_(calls_of(input_, options.ranks)),
        program_(input_.programs.front()),
        memory_(program_),
        cells_(program_),
        contents_(program_, *calls_),
        progress_(static_cast<std::size_t>(options.ranks)) {}

  std::vector<ReplayedStep> run() {
    std::vector<ReplayedStep> steps;
    for (; at_ < trace_.size(); ++at_) {
      ReplayedStep done{.step = trace_[at_]};
      changed_.reset();
      perform(done);
      done.signals = signals();
      steps.push_back(std::move(done));
    }
    return steps;
  }

 private:
  struct Put {
    TraceStep step;
    std::shared_ptr<const Operation> operation;
  };
  struct CellChange {
    RankId owner;
    int signal;
  };

  static Index last_call(std::span<const TraceStep> trace) {
    Index call = 1;
    for (const TraceStep& step : trace) call = std::max(call, step.call);
    return call;
  }
  static std::size_t index(RankId rank) { return static_cast<std::size_t>(rank.value()); }

  [[noreturn]] void refuse(const TraceStep& step, const std::string& instead) const {
    fail(Code::invalid_argument, "step {} of the trace, `{}` of rank {} in call {}, is none of program {}: {}", at_ + 1,
         step.text, step.rank.value(), step.call, program_.name, instead);
  }

  void perform(ReplayedStep& done) {
    const TraceStep& step = done.step;
    if (step.rank < RankId(0) || step.rank >= RankId(ranks_)) refuse(step, fmt::format("it has {} ranks", ranks_));
    if (step.arrival) return arrive(done);
    come_to_call(step);
    if (step.caller) return;
    const std::shared_ptr<const Operation> operation = progress_[index(step.rank)].next();
    if (!operation) refuse(step, "the call ends there");
    if (!operation->label.empty() && operation->label != step.text)
      refuse(step, fmt::format("it goes on with `{}`", operation->label));
    if (operation->code == OpCode::wait && !step.blocked) check_passes(step, *operation);
    if (!step.blocked) execute(done, operation);
  }

  // Steps that the trace leaves out at the end of a call are of no consequence to it.
  void come_to_call(const TraceStep& step) {
    Progress& progress = progress_[index(step.rank)];
    const bool reads_results = step.caller && progress.is_inside() && progress.call() == step.call;
    if (reads_results) return;
    while (!progress.is_inside() || progress.call() < step.call) {
      const Index call = progress.call() + 1;
      if (progress.is_inside()) progress.end();
      contents_.begin(call, step.rank, memory_);
      progress.begin(calls_->program(call), step.rank);
    }
    if (progress.call() != step.call) refuse(step, fmt::format("the rank is in call {}", progress.call()));
  }

  void arrive(ReplayedStep& done) {
    const auto put = std::ranges::find_if(puts_, [&](const Put& one) { return is_arrival_of(done.step, one.step); });
    if (put == puts_.end()) refuse(done.step, "no such put is under way");
    deliver(done, *put->operation);
    puts_.erase(put);
  }

  void deliver(ReplayedStep& done, const Operation& put) {
    touch(done, put, [&] {
      for (const Block& block : put.blocks) {
        const Index rows = rows_of(block);
        deliver_rows(put, block, 0, rows, rows_to_put(put, block, 0, rows, done.step.rank, memory_), memory_);
      }
    });
  }

  void execute(ReplayedStep& done, const std::shared_ptr<const Operation>& operation) {
    Progress& progress = progress_[index(done.step.rank)];
    try {
      if (operation->code == OpCode::deferred) return expand(progress, *operation, done.step.rank);
      execute(done, *operation, operation);
      progress.advance();
    } catch (const Error& error) {
      done.refusal = error.what();
      progress.give_up();
    }
  }

  void expand(Progress& progress, const Operation& operation, RankId rank) {
    RankReader reader(memory_, rank);
    std::vector<Operation> operations;
    operation.deferred->expand(reader, operations);
    progress.advance_into(std::move(operations));
  }

  void execute(ReplayedStep& done, const Operation& operation, const std::shared_ptr<const Operation>& kept) {
    switch (operation.code) {
      case OpCode::put: return put(done, kept);
      case OpCode::notify: return notify(done.step, operation);
      case OpCode::wait:
      case OpCode::fence: return;
      default: touch(done, operation, [&] { do_local_work(operation, done.step.rank, memory_); });
    }
  }

  void put(ReplayedStep& done, const std::shared_ptr<const Operation>& operation) {
    const auto rest = trace_.subspan(at_ + 1);
    const bool is_late =
        std::ranges::any_of(rest, [&](const TraceStep& later) { return is_arrival_of(later, done.step); });
    if (!is_late) return deliver(done, *operation);
    puts_.push_back({done.step, operation});
  }

  void notify(const TraceStep& step, const Operation& operation) {
    const std::uint64_t run = progress_[index(step.rank)].program().run;
    cells_.at(operation.peer, operation.signal, operation.slot)
        .notify(operation.notify_op, value_in_run(operation, run), {});
    changed_ = {operation.peer, operation.signal};
  }

  void check_passes(const TraceStep& step, const Operation& operation) {
    const std::uint64_t run = progress_[index(step.rank)].program().run;
    const std::uint64_t seen = cells_.at(step.rank, operation.signal, operation.slot).value();
    if (!is_satisfied(operation.compare, seen, value_in_run(operation, run)))
      refuse(step, fmt::format("the counter holds {} there", seen));
  }

  template <class Work>
  void touch(ReplayedStep& done, const Operation& operation, Work&& work) {
    std::vector<ByteRun> written = written_by(operation, done.step.rank);
    done.read = shown(read_by(operation, done.step.rank));
    const std::vector<ReplayedElements> before = shown(written);
    work();
    done.written = shown(written);
    for (std::size_t run = 0; run < before.size(); ++run) done.written[run].before = before[run].after;
  }

  std::vector<ReplayedElements> shown(std::vector<ByteRun> runs) {
    std::vector<ReplayedElements> elements;
    for (ByteRun& run : runs) {
      ReplayedElements one{.rank = run.rank, .place = name_of_run(program_, run)};
      const WindowSpec& spec = program_.windows[static_cast<std::size_t>(run.window)];
      for (Index at = 0; at + bytes_of(spec.dtype) <= run.bytes; at += bytes_of(spec.dtype))
        one.after.push_back(element_at(spec, memory_.at(run.rank, run.window, run.offset + at, bytes_of(spec.dtype))));
      elements.push_back(std::move(one));
    }
    return elements;
  }

  std::vector<ReplayedSignal> signals() {
    std::vector<ReplayedSignal> all;
    for (int signal = 0; signal < static_cast<int>(program_.signals.size()); ++signal) {
      const SignalSpec& spec = program_.signals[static_cast<std::size_t>(signal)];
      for (RankId rank{0}; rank < RankId(ranks_); ++rank) {
        ReplayedSignal one{.rank = rank, .name = spec.name};
        for (Index slot = 0; slot < spec.slots; ++slot) one.slots.push_back(cells_.at(rank, signal, slot).value());
        one.changed = changed_ && changed_->owner == rank && changed_->signal == signal;
        all.push_back(std::move(one));
      }
    }
    return all;
  }

  std::span<const TraceStep> trace_;
  Index ranks_;
  SimulateInput input_;
  std::unique_ptr<Calls> calls_;
  const Program& program_;  // of the first call: windows and signals are those of all
  SimulatedMemory memory_;
  SimulatedCells cells_;
  Contents contents_;
  std::vector<Progress> progress_;
  std::vector<Put> puts_;
  std::optional<CellChange> changed_;
  std::size_t at_ = 0;
};

}  // namespace
}  // namespace simulation

std::vector<ReplayedStep> replay(const SymbolicProgram& program, std::span<const TraceStep> trace,
                                 const ReplayOptions& options) {
  const SymbolicProgram lowered = lower(program);
  return simulation::TraceReplay(lowered, trace, options).run();
}

}  // namespace reshard
