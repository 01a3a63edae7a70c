// widen as an operator.
#include "op/flow.h"
#include "reshard/halo.h"

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

}  // namespace

LinearOp op::widen(const Layout& in, const Halo& halo, HaloScheme scheme) {
  const HaloPlan plan(in, halo, scheme);
  return linear_op(
      {"widen", in, plan.out(), std::make_shared<const ExchangeFlow>(plan), std::make_shared<const ReduceFlow>(plan)});
}

Tensor halo_exchange(World& world, const Tensor& x, const Halo& halo, HaloScheme scheme) {
  return op::widen(x.layout(), halo, scheme).forward(world, x);
}

Tensor halo_reduce(World& world, const Tensor& wide, const Layout& target, const Halo& halo) {
  return op::widen(dual(target), halo).adjoint(world, wide);
}

}  // namespace reshard
