#include "reshard/collective.h"

#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "collective/request.h"
#include "collective/schedule.h"

namespace reshard {

using collective::Job;

struct Collective::State {
  World* world = nullptr;
  std::string name = {};
  Algorithm algorithm = Algorithm::direct;
  Index rounds = 0;
  std::uint64_t runs = 0;
  std::vector<Executor> executors = {};  // of the programs that take turns
  std::vector<Tensor> windows = {};      // that are not the caller's
  std::vector<std::byte> staging = {};
  std::span<std::byte> input = {}, output = {};
};

namespace {

void look_around(Job& job, Endpoint& endpoint) {
  job.pulls = endpoint.capabilities().load_store;
  for (RankId rank(0); rank < RankId(job.ranks); ++rank)
    job.host_of[static_cast<std::size_t>(rank.value())] = endpoint.host_of(rank);
}

std::string text_of_windows(const CollectiveOptions& options) {
  const auto text = [](const std::optional<WindowId>& window) {
    return window ? fmt::format("window {}", window->value) : "a window of its own";
  };
  return fmt::format("from {} to {}", text(options.input), text(options.output));
}

// Throws unless every rank has the bytes there.
void check_window(Endpoint& endpoint, const char* what, WindowId window, const std::vector<Index>& bytes) {
  for (RankId rank(0); rank < RankId(endpoint.ranks()); ++rank) {
    const Index there = endpoint.window_bytes(window, rank), needed = bytes[static_cast<std::size_t>(rank.value())];
    if (there < needed)
      fail(Code::invalid_argument, "the {} needs {} bytes on rank {}, but window {} has {} there", what, needed,
           rank.value(), window.value, there);
  }
}

void check_windows(Endpoint& endpoint, const Job& job, const CollectiveOptions& options) {
  if (options.input) check_window(endpoint, "input", *options.input, job.input_bytes);
  if (options.output) check_window(endpoint, "output", *options.output, job.output_bytes);
  const bool may_share = job.kind == CollectiveKind::broadcast || job.kind == CollectiveKind::all_reduce;
  if (job.in_place && !may_share)
    fail(Code::invalid_argument, "{} cannot have window {} for input and output; give it two", name_of(job.kind),
         options.input->value);
}

Algorithm algorithm_for(const Job& job, const CollectiveOptions& options) {
  if (options.algorithm && !can_do(job, *options.algorithm))
    fail(Code::invalid_argument, "{} cannot be done by {} with one rounding; take another algorithm", name_of(job.kind),
         name_of(*options.algorithm));
  if (options.algorithm) return *options.algorithm;
  const Tuning tuning = options.tuning != nullptr ? *options.tuning : Tuning::of_environment();
  const Algorithm best = tuning.choose(job.kind, job.ranks, job.hosts(), job.bytes_per_rank());
  return can_do(job, best) ? best : Algorithm::direct;
}

// Counters of a world grow by one for each of its rounds, whatever makes them.
void count_by_rounds(Program& program) {
  for (std::vector<Operation>& operations : program.operations)
    for (Operation& operation : operations) operation.per_run = operation.per_run > 0 ? 1 : 0;
}

// Bytes per rank, as a tensor. Nothing where no rank has any.
std::optional<Tensor> memory_of(World& world, const std::vector<Index>& bytes, const std::string& name) {
  Index sum = 0;
  for (const Index b : bytes) sum = checked_add(sum, b, "bytes of a window on all ranks");
  if (sum == 0) return std::nullopt;
  return world.allocate(
      layout(fmt::format("u8[{}] on (r={}) {{0: r:sizes[{}]}}", sum, world.ranks(), fmt::join(bytes, ","))), name);
}

}  // namespace

Collective::Collective(World& world, const collective::Request& request, const CollectiveOptions& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.world = &world;
  Endpoint& endpoint = world.endpoint();
  Job job;
  std::optional<Error> fault;
  std::string call = request.call;
  try {
    job = request.job();
    look_around(job, endpoint);
    job.in_place = options.input || options.output ? options.input == options.output : request.shares_window;
    s.algorithm = algorithm_for(job, options);
    s.name = name_of(job.kind);
    call += fmt::format(" by {} {}", name_of(s.algorithm), text_of_windows(options));
  } catch (const Error& error) {
    fault = error;
    call += fmt::format(": {}", error.what());  // differs from what the others say, unless all say it
  }
  collective::Schedule schedule;
  world.together(
      call,
      [&] {
        if (fault) throw *fault;
        check_windows(endpoint, job, options);
        schedule = schedule_of(job, s.algorithm, world.rank());
        for (Program& program : schedule.programs) {
          count_by_rounds(program);
          s.executors.emplace_back(program, endpoint);
        }
      },
      [](Clock::time_point) {});
  s.rounds = schedule.rounds;
  bind(schedule.programs.front(), job.in_place, options);
}

Collective::Collective(Collective&&) noexcept = default;
Collective& Collective::operator=(Collective&&) noexcept = default;
Collective::~Collective() = default;

// Collective: makes the windows that are missing.
void Collective::bind(const Program& program, bool in_place, const CollectiveOptions& options) {
  State& s = *state_;
  World& world = *s.world;
  const auto own = [&](int window) -> WindowId {
    const WindowSpec& spec = program.windows[static_cast<std::size_t>(window)];
    std::optional<Tensor> tensor = memory_of(world, spec.bytes, fmt::format("{} of {}", spec.name, program.name));
    if (!tensor) return {};
    s.windows.push_back(std::move(*tensor));
    return s.windows.back().window();
  };
  const auto here = [&](WindowId id, int window) -> std::span<std::byte> {
    if (id.value < 0) return {};
    const std::vector<Index>& bytes = program.windows[static_cast<std::size_t>(window)].bytes;
    return world.endpoint().memory(id).first(
        static_cast<std::size_t>(bytes[static_cast<std::size_t>(world.rank().value())]));
  };
  const WindowId input = options.input ? *options.input : own(collective::kInput);
  const WindowId output = in_place ? input : options.output ? *options.output : own(collective::kOutput);
  const WindowId mailbox = own(collective::kMailbox);
  s.input = here(input, collective::kInput);
  s.output = here(output, collective::kOutput);
  const auto& staging = program.windows[collective::kStaging].bytes;
  s.staging.resize(static_cast<std::size_t>(staging[static_cast<std::size_t>(world.rank().value())]));
  for (Executor& executor : s.executors)
    executor.bind({.windows = {input, output, mailbox, WindowId{}},
                   .signals = {world.turns()},
                   .memory = {{}, {}, {}, s.staging}});
}

Traffic Collective::run() {
  State& s = *state_;
  World& world = *s.world;
  world.check_whole(s.name);
  Executor& executor = s.executors[s.runs++ % s.executors.size()];
  try {
    executor.run(world.take_turns(s.rounds), Clock::now() + world.timeout());
  } catch (const Error& error) {
    world.give_up(error.what());  // counters and windows are in an unknown state
    throw;
  }
  return executor.traffic();
}

std::span<std::byte> Collective::input() { return state_->input; }
std::span<std::byte> Collective::output() { return state_->output; }
Algorithm Collective::algorithm() const { return state_->algorithm; }

void Barrier::run() {
  world_->check_whole("barrier");
  try {
    world_->endpoint().barrier(Clock::now() + world_->timeout());
  } catch (const Error& error) {
    world_->give_up(error.what());
    throw;
  }
}

}  // namespace reshard
