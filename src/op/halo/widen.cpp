// widen as an operator, under several names.
#include "op/axis_edit.h"
#include "op/flow.h"
#include "reshard/halo.h"
#include "reshard/primitives.h"

namespace reshard {
namespace {

class ExchangeFlow final : public Flow {
 public:
  explicit ExchangeFlow(HaloPlan plan) : plan_(std::move(plan)) {}
  std::string text() const override { return plan_.text(); }
  Index rounds() const override { return plan_.rounds(); }
  Program program(Index ranks, std::optional<RankId> only, const RankHosts& hosts) const override {
    return plan_.exchange_program(ranks, only, hosts);
  }

 private:
  HaloPlan plan_;
};

class ReduceFlow final : public Flow {
 public:
  explicit ReduceFlow(HaloPlan plan) : plan_(std::move(plan)) {}
  std::string text() const override { return "reduce what does: " + plan_.text(); }
  Program program(Index ranks, std::optional<RankId> only, const RankHosts& hosts) const override {
    return plan_.reduce_program(ranks, only, hosts);
  }

 private:
  HaloPlan plan_;
};

LinearOp widen_as(std::string name, const Layout& in, const Halo& halo, HaloScheme scheme) {
  const HaloPlan plan(in, halo, scheme);
  return linear_op({std::move(name), in, plan.out(), std::make_shared<const ExchangeFlow>(plan),
                    std::make_shared<const ReduceFlow>(plan)});
}

// Along an axis that the mesh does not have there are no neighbours, and no ghosts.
LinearOp widen_along(std::string name, const Layout& in, const std::string& axis, const HaloDim& along) {
  op::AxisEdit edit(name, in, axis);
  if (!edit.exists()) return {std::move(name), in, in};
  edit.expect_cut(along.dim);
  return widen_as(std::move(name), in, {{along}}, HaloScheme::direct);
}

}  // namespace

LinearOp op::widen(const Layout& in, const Halo& halo, HaloScheme scheme) {
  return widen_as("widen", in, halo, scheme);
}

LinearOp op::polar_halo_exchange(const Grid& grid, const Layout& in, Index radius, int dim, const HaloEdge& edge) {
  return widen_along("polar_halo_exchange", in, grid.polar("polar_halo_exchange", in), {dim, radius, radius, edge});
}

LinearOp op::azimuth_halo_exchange(const Grid& grid, const Layout& in, Index radius, int dim, const HaloEdge& edge) {
  return widen_along("azimuth_halo_exchange", in, grid.azimuth("azimuth_halo_exchange", in),
                     {dim, radius, radius, edge});
}

LinearOp op::polar_halo_reduce(const Grid& grid, const Layout& out, Index radius, int dim, const HaloEdge& edge) {
  return polar_halo_exchange(grid, dual(out), radius, dim, edge).adjoint();
}

LinearOp op::azimuth_halo_reduce(const Grid& grid, const Layout& out, Index radius, int dim, const HaloEdge& edge) {
  return azimuth_halo_exchange(grid, dual(out), radius, dim, edge).adjoint();
}

Tensor halo_exchange(World& world, const Tensor& x, const Halo& halo, HaloScheme scheme) {
  return op::widen(x.layout(), halo, scheme).forward(world, x);
}

Tensor halo_reduce(World& world, const Tensor& wide, const Layout& target, const Halo& halo) {
  return op::widen(dual(target), halo).adjoint(world, wide);
}

}  // namespace reshard
