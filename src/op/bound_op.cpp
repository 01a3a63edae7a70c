#include <optional>

#include "base/fail.h"
#include "op/flow.h"
#include "op/tensor_check.h"
#include "reshard/op.h"

namespace reshard {

// One direction, ready to run.
struct BoundOp::Direction {
  std::optional<Executor> executor;
  std::vector<WindowSpec> scratch;
  Binding binding;
  std::uint64_t runs = 0;

  void prepare(const Flow& flow, World& world) {
    Program program = flow.program(world.ranks(), world.rank(), world.hosts());
    executor.emplace(program, world.endpoint());
    scratch.assign(program.windows.begin() + 2, program.windows.end());
  }
  void bind(const Tensor& source, const Tensor& target, World& world, Clock::time_point deadline) {
    Endpoint& endpoint = world.endpoint();
    binding.windows = {source.window(), target.window()};
    for (const WindowSpec& window : scratch)
      binding.windows.push_back(
          endpoint.create_window(window.name, window.bytes[static_cast<std::size_t>(world.rank().value())], deadline));
    for (const char* signal : {"operator ready", "operator done"})
      binding.signals.push_back(endpoint.create_signal(signal, world.ranks(), deadline));
    executor->bind(binding);
  }
  Traffic run(World& world, const std::string& name) {
    world.check_whole(name);
    try {
      executor->run(runs++, Clock::now() + world.timeout());
    } catch (const Error& error) {
      world.give_up(error.what());  // signals and scratch are in an unknown state
      throw;
    }
    return executor->traffic();
  }
};

namespace {

void check_apart(const LinearOp& op, const Tensor& source, const Tensor& target) {
  if (source.window() == target.window())
    fail(Code::invalid_argument, "{}: tensor {} is both source and target: results are other tensors than inputs",
         op.name(), source.name());
}

std::string window_text(const Tensor& tensor) {
  return fmt::format("{} in window {}", tensor.name(), tensor.window().value);
}

}  // namespace

BoundOp::BoundOp(World& world, const LinearOp& op, const Tensor& x, Tensor& y)
    : BoundOp(world, op, x, y, nullptr, nullptr) {}

BoundOp::BoundOp(World& world, const LinearOp& op, const Tensor& x, Tensor& y, const Tensor& gy, Tensor& gx)
    : BoundOp(world, op, x, y, &gy, &gx) {}

BoundOp::BoundOp(World& world, const LinearOp& op, const Tensor& x, Tensor& y, const Tensor* gy, Tensor* gx)
    : world_(&world), name_(op.name()), forward_(std::make_unique<Direction>()) {
  std::optional<Error> fault;
  std::string call = fmt::format("bind {} to ", op.text());
  try {
    for (const Tensor* tensor : {&x, static_cast<const Tensor*>(&y), gy, static_cast<const Tensor*>(gx)}) {
      if (tensor == nullptr) continue;
      world.check_own(*tensor);
      call += window_text(*tensor) + ", ";
    }
    op::check_value(op, "x", x, op.in());
    op::check_value(op, "y", y, op.out());
    check_apart(op, x, y);
    if (gy != nullptr) {
      op::check_gradient(op, "y", *gy, op.out_dual());
      op::check_gradient(op, "x", *gx, op.in_dual());
      check_apart(op, *gy, *gx);
    }
  } catch (const Error& error) {
    fault = error;
    call = fmt::format("bind: {}", error.what());  // differs from what the others say, unless all say it
  }
  const auto prepare = [&] {
    if (fault) throw *fault;
    forward_->prepare(*op.forward_, world);
    if (gy == nullptr) return;
    adjoint_ = std::make_unique<Direction>();
    adjoint_->prepare(*op.adjoint_, world);
  };
  world.together(call, prepare, [&](Clock::time_point deadline) {
    forward_->bind(x, y, world, deadline);
    if (gy != nullptr) adjoint_->bind(*gy, *gx, world, deadline);
  });
}

BoundOp::BoundOp(BoundOp&&) noexcept = default;
BoundOp::~BoundOp() = default;

Traffic BoundOp::forward() { return forward_->run(*world_, name_); }

Traffic BoundOp::adjoint() {
  if (adjoint_ == nullptr)
    fail(Code::invalid_argument, "{}: bound without gradients; give the constructor gy and gx", name_);
  return adjoint_->run(*world_, name_);
}

}  // namespace reshard
