#include "reshard/world.h"

#include <map>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "exec/call_check.h"
#include "exec/released.h"
#include "exec/stage.h"
#include "exec/staging.h"

namespace reshard {
namespace {

// A move as it runs: its stages, and the windows of the tensors between them.
struct Move {
  std::vector<Stage> stages;
  std::vector<WindowId> between;
};

// A kind of move: everything it depends on beside the two layouts, and how its stages are made. Gives the bytes that
// this rank needs for each tensor between two stages. Communicates nothing.
struct Way {
  std::string name;
  std::string key;
  std::function<std::vector<Index>(std::vector<Stage>&)> make;
};

std::string text_of(const PlanOptions& options) {
  return fmt::format("senders {} {} {} {}, staging {}", name_of(options.policy), options.ranks_per_host,
                     options.ranks_per_rack, options.rotation, options.staging_limit);
}

void check_memory(const Layout& layout, RankId rank, std::span<const std::byte> memory, const std::string& name) {
  const Index needed = layout.local_bytes(rank);
  if (static_cast<Index>(memory.size()) < needed)
    fail(Code::invalid_argument, "tensor {}: {} takes {} bytes on rank {}, but the memory there has {}", name,
         layout.text(), needed, rank.value(), memory.size());
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % static_cast<std::uintptr_t>(bytes_of(layout.dtype())) != 0)
    fail(Code::invalid_argument, "tensor {}: its memory on rank {} is not aligned to the {} bytes of an element", name,
         rank.value(), bytes_of(layout.dtype()));
}

}  // namespace

struct World::State {
  State(Endpoint& e, WorldOptions o, Clock::time_point deadline)
      : endpoint(e),
        options(o),
        map(e, options.topology),
        calls(e, deadline),
        ready(e.create_signal("ready", e.ranks(), deadline)),
        done(e.create_signal("done", e.ranks(), deadline)) {}

  Clock::time_point deadline() const { return Clock::now() + options.timeout; }
  // Runs `act(deadline)` once all ranks agree on `call`.
  template <class Act>
  auto collective(const std::string& call, Act act);
  // Runs `prepare`, which communicates nothing; throws on every rank if it throws on one.
  template <class Prepare>
  void prepare_together(Prepare prepare, Clock::time_point deadline) {
    std::optional<Error> fault;
    try {
      prepare();
    } catch (const Error& error) {
      fault = error;
    } catch (const std::exception& error) {
      fault.emplace(Code::internal, error.what());
    }
    calls.settle(fault, deadline);
  }
  // Destroys the windows of tensors that every rank has let go of.
  void free_windows(const std::vector<std::int64_t>& numbers, Clock::time_point deadline);
  Move& move_for(const Tensor& source, const Tensor& target, const Way& way, Clock::time_point deadline);
  Traffic move(const Tensor& source, Tensor& target, const Way& way);
  Traffic run(Move& move, WindowId source, WindowId target, Clock::time_point deadline);
  void check_own(const Tensor& tensor) const;
  void check_mesh(const Layout& layout, const std::string& name) const;
  // Over a window that all ranks have just made.
  Tensor tensor(const Layout& layout, const std::string& text, const std::string& name, WindowId window);
  void check_whole(const std::string& call) const {
    if (!broken.empty())
      fail(Code::peer_lost, "{}: this world cannot go on since an earlier call failed: {}", call, broken);
  }

  Endpoint& endpoint;
  WorldOptions options;
  HostMap map;
  CallCheck calls;
  // Shared by all programs of this world: `runs` grows on every rank with every move, and with every round of a
  // collective operation. A rank that has come further has passed all that others may wait for.
  SignalId ready;
  SignalId done;
  std::uint64_t runs = 0;
  std::map<std::string, Move> moves;  // by everything that a plan depends on
  Staging staging;                    // of all moves: they run one after another
  // Shared with the tensors, which may outlive the world.
  std::shared_ptr<Tensor::Released> released = std::make_shared<Tensor::Released>();
  std::map<std::int64_t, WindowId> windows;  // by number of the tensor
  std::int64_t next_tensor = 0;
  std::string broken;  // why this world cannot go on
};

template <class Act>
auto World::State::collective(const std::string& call, Act act) {
  check_whole(call);
  try {
    const auto until = deadline();
    free_windows(calls.agree(call, released->numbers(), until), until);
    return act(until);
  } catch (const Error& error) {
    // What all ranks refuse together, or what no rank has memory for, leaves them in step.
    if (error.code() == Code::invalid_argument || error.code() == Code::unsupported || error.code() == Code::io) throw;
    broken = error.what();
    throw Error(error.code(), fmt::format("{}: {}", call, error.what()));
  }
}

void World::State::free_windows(const std::vector<std::int64_t>& numbers, Clock::time_point deadline) {
  for (const std::int64_t number : numbers) {
    const auto window = windows.find(number);
    endpoint.destroy_window(window->second, deadline);
    windows.erase(window);
    released->remove(number);
  }
}

Move& World::State::move_for(const Tensor& source, const Tensor& target, const Way& way, Clock::time_point deadline) {
  const std::string key = fmt::format("{}\n{}\n{}", source.layout_text(), target.layout_text(), way.key);
  if (const auto known = moves.find(key); known != moves.end()) return known->second;
  std::vector<Index> between;
  Move move;
  prepare_together([&] { between = way.make(move.stages); }, deadline);
  // Only once nothing can be refused any more: windows and signals are made by all ranks together.
  for (Stage& stage : move.stages)
    if (stage.arrival_slots > 0) stage.arrived = endpoint.create_signal("arrived", stage.arrival_slots, deadline);
  for (const Index bytes : between) move.between.push_back(endpoint.create_window("between stages", bytes, deadline));
  return moves.emplace(key, std::move(move)).first->second;
}

Traffic World::State::run(Move& move, WindowId source, WindowId target, Clock::time_point deadline) {
  Traffic traffic;
  for (std::size_t k = 0; k < move.stages.size(); ++k) {
    Stage& stage = move.stages[k];
    Binding binding{
        .windows = {k == 0 ? source : move.between[k - 1], k + 1 == move.stages.size() ? target : move.between[k]},
        .signals = {ready, done}};
    if (stage.arrived) binding.signals.insert(binding.signals.begin() + 1, *stage.arrived);
    if (!stage.staging_bytes.empty())
      binding.windows.push_back(staging.window_of(stage.staging_bytes, endpoint, deadline));
    stage.executor.bind(std::move(binding));
    stage.executor.run(std::exchange(runs, runs + static_cast<std::uint64_t>(stage.rounds)), deadline);
    traffic = traffic + stage.executor.traffic();
  }
  return traffic;
}

void World::State::check_own(const Tensor& tensor) const {
  if (tensor.part_ != nullptr && tensor.part_->released == released) return;
  fail(Code::invalid_argument, "a tensor of another world, or one that was moved from, cannot take part in a move");
}

void World::State::check_mesh(const Layout& layout, const std::string& name) const {
  if (layout.mesh().end_rank() <= RankId(endpoint.ranks())) return;
  fail(Code::invalid_argument,
       "tensor {}: {} names rank {}, but the world has {} ranks; start more ranks or move the mesh", name,
       layout.text(), layout.mesh().end_rank().value() - 1, endpoint.ranks());
}

Tensor World::State::tensor(const Layout& layout, const std::string& text, const std::string& name, WindowId window) {
  released->expect_one_more();
  const std::int64_t number = next_tensor++;
  windows.emplace(number, window);
  return Tensor({.name = name,
                 .layout = layout,
                 .layout_text = text,
                 .rank = endpoint.rank(),
                 .region = layout.region(endpoint.rank()),
                 .storage = layout.storage(endpoint.rank()),
                 .bytes = endpoint.memory(window),
                 .window = window,
                 .number = number,
                 .released = released});
}

Traffic World::State::move(const Tensor& source, Tensor& target, const Way& way) {
  std::optional<Error> fault;
  std::string call;
  try {
    check_own(source);
    check_own(target);
    call = fmt::format("{} {} #{} {} -> {} #{} {}, {}", way.name, source.name(), source.part_->number,
                       source.layout_text(), target.name(), target.part_->number, target.layout_text(), way.key);
  } catch (const Error& error) {
    fault = error;
    call = fmt::format("{}: {}", way.name, error.what());  // differs from what the others say, unless all say it
  }
  return collective(call, [&](Clock::time_point deadline) {
    if (fault) throw *fault;
    if (source.part_->number == target.part_->number) {
      fail(Code::invalid_argument, "tensor {} cannot be moved into itself; allocate another as the target",
           source.name());
    }
    return run(move_for(source, target, way, deadline), source.window(), target.window(), deadline);
  });
}

World::World(Endpoint& endpoint, WorldOptions options)
    : state_(std::make_unique<State>(endpoint, options, Clock::now() + options.timeout)) {}

World::~World() = default;

RankId World::rank() const { return state_->endpoint.rank(); }
Index World::ranks() const { return state_->endpoint.ranks(); }
Endpoint& World::endpoint() { return state_->endpoint; }
std::chrono::milliseconds World::timeout() const { return state_->options.timeout; }
void World::set_timeout(std::chrono::milliseconds timeout) { state_->options.timeout = timeout; }
Index World::cached_programs() const { return static_cast<Index>(state_->moves.size()); }

void World::barrier() {
  state_->collective("barrier", [](Clock::time_point) {});
}

Tensor World::allocate(const Layout& layout, std::string name) {
  State& s = *state_;
  const std::string text = layout.text();
  return s.collective(fmt::format("allocate {} {}", name, text), [&](Clock::time_point deadline) {
    s.check_mesh(layout, name);
    return s.tensor(layout, text, name, s.endpoint.create_window(name, layout.local_bytes(rank()), deadline));
  });
}

Tensor World::adopt(const Layout& layout, std::span<std::byte> memory, Exposure how, std::string name) {
  State& s = *state_;
  const std::string text = layout.text();
  const std::string call = fmt::format("adopt {} {} {}", name, text, how == Exposure::shared ? "shared" : "in place");
  return s.collective(call, [&](Clock::time_point deadline) {
    s.check_mesh(layout, name);
    // Memory may be right on one rank and wrong on another.
    s.prepare_together([&] { check_memory(layout, rank(), memory, name); }, deadline);
    const auto used = memory.first(static_cast<std::size_t>(layout.local_bytes(rank())));
    return s.tensor(layout, text, name, s.endpoint.expose_window(name, used, how, deadline));
  });
}

Traffic World::move(const Tensor& source, Tensor& target, const PlanOptions& options) {
  State& s = *state_;
  const auto make = [&](std::vector<Stage>& made) {
    const std::vector<Layout> layouts = stages(source.layout(), target.layout());
    std::vector<Index> between;
    for (std::size_t stage = 1; stage < layouts.size(); ++stage) {
      made.push_back(make_stage(layouts[stage - 1], layouts[stage], options, s.map, s.endpoint));
      if (stage + 1 < layouts.size()) between.push_back(layouts[stage].local_bytes(rank()));
    }
    return between;
  };
  return s.move(source, target, {"redistribute", text_of(options), make});
}

Traffic World::move_by(const OwnProgram& own, const Tensor& source, Tensor& target) {
  State& s = *state_;
  const auto make = [&](std::vector<Stage>& made) {
    const Program program = own.make(s.map.hosts());
    made.push_back({.executor = Executor(program, s.endpoint),
                    .staging_bytes = program.windows.size() > 2 ? program.windows[2].bytes : std::vector<Index>{},
                    .rounds = own.rounds});
    return std::vector<Index>{};
  };
  return s.move(source, target, {own.name, own.key, make});
}

void World::together(const std::string& call, const std::function<void()>& prepare,
                     const std::function<void(Clock::time_point)>& act) {
  State& s = *state_;
  s.collective(call, [&](Clock::time_point deadline) {
    s.prepare_together(prepare, deadline);
    act(deadline);
  });
}

const RankHosts& World::hosts() const { return state_->map.hosts(); }

void World::check_own(const Tensor& tensor) const { state_->check_own(tensor); }

void World::check_whole(const std::string& call) const { state_->check_whole(call); }

void World::give_up(const std::string& why) { state_->broken = why; }

SignalId World::turns() const { return state_->ready; }

std::uint64_t World::take_turns(Index rounds) {
  return std::exchange(state_->runs, state_->runs + static_cast<std::uint64_t>(rounds));
}

Tensor redistribute(World& world, const Tensor& source, const Layout& target, const PlanOptions& options) {
  Tensor result = world.allocate(target, source.name());
  world.move(source, result, options);
  return result;
}

Traffic redistribute(World& world, const Tensor& source, Tensor& target, const PlanOptions& options) {
  return world.move(source, target, options);
}

}  // namespace reshard
