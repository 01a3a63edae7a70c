#include <optional>

#include "base/fail.h"
#include "op/halo/plan_state.h"

namespace reshard {

struct HaloExchange::State {
  World* world = nullptr;
  std::string name = {};
  LocalBox interior = {};
  std::optional<Executor> begin = {}, end = {};
  std::uint64_t runs = 0;
  bool has_begun = false;
  Traffic traffic = {};  // of the first half

  // Runs one half. Signals and ghosts are in an unknown state after an error.
  Traffic run(Executor& half) const {
    world->check_whole(name);
    try {
      half.run(runs, Clock::now() + world->timeout());
    } catch (const Error& error) {
      world->give_up(error.what());
      throw;
    }
    return half.traffic();
  }
};

namespace {

void check_layout(const Tensor& tensor, const Layout& layout, const char* what, const HaloPlan& plan) {
  if (tensor.layout() == layout) return;
  fail(Code::invalid_argument, "{}: {} {} is {}, but {} is expected", plan.text(), what, tensor.name(),
       tensor.layout_text(), layout.text());
}

}  // namespace

HaloExchange::HaloExchange(World& world, const HaloPlan& plan, const Tensor& x, Tensor& wide)
    : HaloExchange(world, plan, &x, wide) {}
HaloExchange::HaloExchange(World& world, const HaloPlan& plan, Tensor& wide)
    : HaloExchange(world, plan, nullptr, wide) {}
HaloExchange::HaloExchange(HaloExchange&&) noexcept = default;
HaloExchange::~HaloExchange() = default;

HaloExchange::HaloExchange(World& world, const HaloPlan& plan, const Tensor* x, Tensor& wide)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.world = &world;
  std::optional<Error> fault;
  std::string call;
  try {
    if (x != nullptr) {
      world.check_own(*x);
      check_layout(*x, plan.in(), "source", plan);
    }
    world.check_own(wide);
    check_layout(wide, plan.out(), "target", plan);
    call = fmt::format("{}, {} to window {}", plan.text(),
                       x != nullptr ? fmt::format("window {}", x->window().value) : "in place", wide.window().value);
    s.name = plan.text();
  } catch (const Error& error) {
    fault = error;
    call = fmt::format("halo exchange: {}", error.what());  // differs from what the others say, unless all say it
  }
  const HaloForm form = x != nullptr ? HaloForm::apart : HaloForm::in_place;
  Index scratch = 0;
  bool has_scratch = false;
  const auto prepare = [&] {
    if (fault) throw *fault;
    const HaloPlan::State& p = *plan.state_;
    const halo::Job job = p.job(form, world.hosts());
    Program program = p.program("halo_exchange", world.ranks(), form, false);
    p.add_scratch(program, exchange_scratch(job, world.ranks()));
    const auto self = static_cast<std::size_t>(world.rank().value());
    has_scratch = static_cast<int>(program.windows.size()) > job.scratch();
    if (has_scratch) scratch = program.windows.back().bytes[self];
    halo::Halves halves = std::move(exchange_halves(job, world.ranks(), world.rank())[self]);
    program.operations[self] = std::move(halves.begin);
    s.begin.emplace(program, world.endpoint());
    program.operations[self] = std::move(halves.end);
    s.end.emplace(program, world.endpoint());
    s.interior = plan.shard(world.rank()).interior;
  };
  world.together(call, prepare, [&](Clock::time_point deadline) {
    Endpoint& endpoint = world.endpoint();
    Binding binding;
    if (x != nullptr) binding.windows.push_back(x->window());
    binding.windows.push_back(wide.window());
    if (has_scratch) binding.windows.push_back(endpoint.create_window("halo scratch", scratch, deadline));
    for (const char* signal : {"halo ready", "halo done"})
      binding.signals.push_back(endpoint.create_signal(signal, world.ranks(), deadline));
    s.begin->bind(binding);
    s.end->bind(binding);
  });
}

void HaloExchange::check(bool begun, const char* what) const {
  if (state_->has_begun == begun) return;
  fail(Code::invalid_argument, "{}: {} {}", state_->name, what,
       begun ? "without a begin() before it" : "before the end() of the exchange that has begun");
}

void HaloExchange::begin() {
  check(false, "begin()");
  state_->traffic = state_->run(*state_->begin);
  state_->has_begun = true;
}

const LocalBox& HaloExchange::interior() const { return state_->interior; }

Traffic HaloExchange::end() {
  check(true, "end()");
  State& s = *state_;
  const Traffic traffic = s.traffic + s.run(*s.end);
  ++s.runs;
  s.has_begun = false;
  return traffic;
}

Traffic HaloExchange::run() {
  begin();
  return end();
}

}  // namespace reshard
