#include "reshard/program_run.h"

#include <optional>
#include <utility>

#include "base/fail.h"
#include "exec/expected.h"
#include "exec/notifiers.h"
#include "exec/program_memory.h"
#include "program/symbolic/placed.h"
#include "reshard/lower.h"
#include "reshard/program_text.h"
#include "reshard/unroll.h"

namespace reshard {
namespace {

// All that ranks must agree on.
std::string description_of(const SymbolicProgram& program, const std::map<std::string, Index>& sizes) {
  std::string text = "program " + program.name;
  for (const auto& [name, value] : sizes) text += fmt::format(", {} = {}", name, value);
  return text + ": " + text_of(program);
}

}  // namespace

struct ProgramRun::State {
  // One call, or all calls that are a multiple of them apart.
  struct Unrolled {
    Unrolled(Program unrolled, Endpoint& endpoint) : program(std::move(unrolled)), executor(program, endpoint) {
      for (auto& operations : program.operations) operations.clear();  // the executor has its own
    }
    Program program;
    Executor executor;
  };

  State(World& w, const std::map<std::string, Index>& sizes)
      : world(w), options{.ranks = w.ranks(), .sizes = sizes, .only = w.rank()} {}

  void prepare(const SymbolicProgram& written);
  void allocate(Clock::time_point deadline);
  void fill_by_rules();
  void start_over();
  Executor& executor_for_call();
  UnrollOptions options_of(Index call) const;
  std::string explained(const Executor& executor, const Error& error) const;
  void run(Clock::time_point deadline);

  World& world;
  UnrollOptions options;
  SymbolicProgram program;  // lowered
  std::optional<PlacedProgram> placed;
  std::vector<Unrolled> unrolled;
  bool serves_all_calls = false;
  ProgramMemory memory;
  std::uint64_t calls = 0;
  std::uint64_t unrolled_for = 0;  // calls before the one; where there is one for each
  Traffic traffic;
  bool refused = false;  // the last call
  std::string broken;    // why there can be no more calls
};

UnrollOptions ProgramRun::State::options_of(Index call) const {
  UnrollOptions at = options;
  at.call = call;
  return at;
}

void ProgramRun::State::prepare(const SymbolicProgram& written) {
  program = lower(written);
  placed.emplace(program, options);
  std::vector<Program> programs = unroll_all_calls(program, options);
  serves_all_calls = !programs.empty();
  if (!serves_all_calls) programs.push_back(unroll(program, options));
  for (Program& one : programs) unrolled.emplace_back(std::move(one), world.endpoint());
}

void ProgramRun::State::allocate(Clock::time_point deadline) {
  Endpoint& endpoint = world.endpoint();
  memory.create(unrolled.front().program, endpoint, deadline);
  for (const Unrolled& one : unrolled) memory.make_room(one.program, world.rank());
  memory.start_signals(unrolled.front().program, endpoint);
  fill_by_rules();
  for (Unrolled& one : unrolled) one.executor.bind(memory.binding(one.program));
  endpoint.barrier(deadline);  // a peer that has returned may begin a call
}

// What windows, outputs and local memory hold before the first call.
void ProgramRun::State::fill_by_rules() {
  const std::vector<WindowSpec>& windows = placed->windows();
  for (std::size_t w = 0; w < windows.size(); ++w)
    if (windows[w].role != BufferRole::input)
      fill_initial(program, options, world.rank(), static_cast<int>(w), memory.of(static_cast<int>(w)));
}

// All ranks have been refused, or this does not return. Nobody runs, so signals may be set.
void ProgramRun::State::start_over() {
  world.endpoint().fence();
  world.together(
      fmt::format("program {} after a refusal", program.name),
      [&] { memory.start_signals(unrolled.front().program, world.endpoint()); }, [](Clock::time_point) {});
  refused = false;
}

Executor& ProgramRun::State::executor_for_call() {
  if (serves_all_calls) return unrolled[calls % unrolled.size()].executor;
  if (unrolled_for != calls) {
    Unrolled now(unroll(program, options_of(static_cast<Index>(calls) + 1)), world.endpoint());
    memory.make_room(now.program, world.rank());
    now.executor.bind(memory.binding(now.program));
    unrolled.clear();
    unrolled.push_back(std::move(now));
    unrolled_for = calls;
  }
  return unrolled.front().executor;
}

// Who is waited for takes the operations of all ranks to say, which are unrolled only here.
std::string ProgramRun::State::explained(const Executor& executor, const Error& error) const {
  if (error.code() != Code::timeout) return error.what();
  UnrollOptions all = options_of(static_cast<Index>(calls) + 1);
  all.only.reset();
  return error.what() + notifiers_of(unroll(program, all), world.rank(), executor.stopped_at());
}

void ProgramRun::State::run(Clock::time_point deadline) {
  Executor& executor = executor_for_call();
  try {
    executor.run(calls, deadline);
  } catch (const Error& error) {
    refused = executor.refused();
    if (!refused) throw Error(error.code(), explained(executor, error));
    calls = 0;
    throw;
  }
  traffic = executor.traffic();
}

ProgramRun::ProgramRun(World& world, const SymbolicProgram& program, const std::map<std::string, Index>& sizes)
    : state_(std::make_unique<State>(world, sizes)) {
  State& s = *state_;
  world.together(
      description_of(program, sizes), [&] { s.prepare(program); },
      [&](Clock::time_point deadline) { s.allocate(deadline); });
}

ProgramRun::ProgramRun(ProgramRun&&) noexcept = default;
ProgramRun::~ProgramRun() = default;

std::span<std::byte> ProgramRun::bytes(std::string_view buffer) {
  const PlacedBuffer& at = state_->placed->buffer(buffer, state_->world.rank());
  return state_->memory.of(at.window).subspan(static_cast<std::size_t>(at.offset),
                                              static_cast<std::size_t>(at.elements * bytes_of(at.dtype)));
}

Traffic ProgramRun::call() {
  State& s = *state_;
  if (!s.broken.empty())
    fail(Code::peer_lost, "program {} cannot be called again since an earlier call failed: {}", s.program.name,
         s.broken);
  if (s.refused) s.start_over();
  try {
    s.run(Clock::now() + s.world.timeout());
  } catch (const std::exception& error) {
    if (!s.refused) s.broken = error.what();
    throw;
  }
  ++s.calls;
  return s.traffic;
}

Index ProgramRun::calls() const { return static_cast<Index>(state_->calls); }

void ProgramRun::fill_inputs() {
  const State& s = *state_;
  const UnrollOptions next = s.options_of(calls() + 1);
  for (std::size_t w = 0; w < s.placed->windows().size(); ++w)
    if (s.placed->windows()[w].role == BufferRole::input)
      fill_initial(s.program, next, s.world.rank(), static_cast<int>(w), s.memory.of(static_cast<int>(w)));
}

void ProgramRun::check_outputs() const {
  const State& s = *state_;
  if (s.calls == 0)
    fail(Code::invalid_argument, "program {}: no call has ended well that could be checked", s.program.name);
  ExpectedOutputs(s.program, s.unrolled.front().program, s.options_of(calls())).check(s.memory.all());
}

}  // namespace reshard
