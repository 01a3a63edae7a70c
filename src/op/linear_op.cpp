#include "base/fail.h"
#include "op/flow.h"
#include "op/kinds.h"
#include "op/tensor_check.h"
#include "reshard/op.h"

namespace reshard {
namespace {

constexpr std::string_view kAdjointOf = "adjoint of ";

// The name of the adjoint; of its adjoint, the name itself.
std::string adjoint_name(const std::string& name) {
  return name.starts_with(kAdjointOf) ? name.substr(kAdjointOf.size()) : std::string(kAdjointOf) + name;
}

OpParts parts_of_move(std::string name, Layout in, Layout out, const PlanOptions& options) {
  const Layout out_dual = dual(out), in_dual = dual(in);
  op::check_edges(name, in, out);
  auto forward = move_flow(in, out, options);
  auto adjoint = move_flow(out_dual, in_dual, options);
  return {std::move(name), std::move(in), std::move(out), std::move(forward), std::move(adjoint)};
}

// A world counts the rounds of all programs on the same signals.
Program by_rounds(Program program, RankId rank) {
  for (Operation& operation : program.operations[static_cast<std::size_t>(rank.value())])
    if (operation.per_run > 0) operation.per_run = 1;
  return program;
}

}  // namespace

LinearOp linear_op(OpParts parts) { return LinearOp(LinearOp::Unchecked{}, std::move(parts)); }

LinearOp::LinearOp(std::string name, Layout in, Layout out, PlanOptions options)
    : LinearOp(Unchecked{}, parts_of_move(std::move(name), std::move(in), std::move(out), options)) {}

LinearOp::LinearOp(Unchecked, OpParts parts)
    : name_(std::move(parts.name)),
      in_(std::move(parts.in)),
      out_(std::move(parts.out)),
      in_dual_(dual(in_)),
      out_dual_(dual(out_)),
      forward_(std::move(parts.forward)),
      adjoint_(std::move(parts.adjoint)) {}

LinearOp LinearOp::adjoint() const { return linear_op({adjoint_name(name_), out_dual_, in_dual_, adjoint_, forward_}); }

Traffic LinearOp::run(World& world, const Flow& flow, const Tensor& source, Tensor& target) const {
  if (const PlanOptions* options = flow.move_options()) return world.move(source, target, *options);
  const auto make = [&](const RankHosts& hosts) {
    return by_rounds(flow.program(world.ranks(), world.rank(), hosts), world.rank());
  };
  return world.move_by({.name = name_, .key = flow.text(), .rounds = flow.rounds(), .make = make}, source, target);
}

void LinearOp::check_together(World& world, std::initializer_list<const Tensor*> tensors,
                              const std::function<void()>& check) const {
  std::optional<Error> fault;
  try {
    for (const Tensor* tensor : tensors) world.check_own(*tensor);
    check();
  } catch (const Error& error) {
    fault = error;
  }
  // Ranks without the fault make another call, and are told.
  if (fault)
    world.together(
        fault->what(), [&] { throw *fault; }, [](Clock::time_point) {});
}

Tensor LinearOp::forward(World& world, const Tensor& x) const {
  check_together(world, {&x}, [&] { op::check_value(*this, "x", x, in_); });
  Tensor y = world.allocate(out_, name_);
  run(world, *forward_, x, y);
  return y;
}

Traffic LinearOp::forward(World& world, const Tensor& x, Tensor& y) const {
  check_together(world, {&x, &y}, [&] {
    op::check_value(*this, "x", x, in_);
    op::check_value(*this, "y", y, out_);
  });
  return run(world, *forward_, x, y);
}

Tensor LinearOp::adjoint(World& world, const Tensor& gy) const {
  check_together(world, {&gy}, [&] { op::check_gradient(*this, "y", gy, out_dual_); });
  Tensor gx = world.allocate(in_dual_, "gradient of " + name_);
  run(world, *adjoint_, gy, gx);
  return gx;
}

Traffic LinearOp::adjoint(World& world, const Tensor& gy, Tensor& gx) const {
  check_together(world, {&gy, &gx}, [&] {
    op::check_gradient(*this, "y", gy, out_dual_);
    op::check_gradient(*this, "x", gx, in_dual_);
  });
  return run(world, *adjoint_, gy, gx);
}

Program LinearOp::forward_program(Index ranks, const RankHosts& hosts) const {
  return forward_->program(ranks, {}, hosts);
}
Program LinearOp::forward_program(RankId rank, Index ranks, const RankHosts& hosts) const {
  return forward_->program(ranks, rank, hosts);
}
Program LinearOp::adjoint_program(Index ranks, const RankHosts& hosts) const {
  return adjoint_->program(ranks, {}, hosts);
}
Program LinearOp::adjoint_program(RankId rank, Index ranks, const RankHosts& hosts) const {
  return adjoint_->program(ranks, rank, hosts);
}

std::string LinearOp::text() const { return fmt::format("{}: {} -> {}", name_, in_.text(), out_.text()); }

bool operator==(const LinearOp& a, const LinearOp& b) {
  return a.name_ == b.name_ && a.in_ == b.in_ && a.out_ == b.out_ && a.forward_->text() == b.forward_->text() &&
         a.adjoint_->text() == b.adjoint_->text();
}

}  // namespace reshard
