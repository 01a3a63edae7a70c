// What may be done between begin() and end().
#include "every_fabric.h"
#include "multi/halo/expect_halo.h"

namespace reshard::multi {
namespace {

class HaloHalves : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(HaloHalves, {1, 2, 4});

class HaloOnOneHost : public EveryFabric {};
RESHARD_ON_FABRICS_WHERE(traits.is_one_host, HaloOnOneHost, {1, 2, 4});

// The rank before this one has not even begun when this one computes: begin() has not waited for it.
TEST_P(HaloOnOneHost, BeginDoesNotWaitAndOwnCellsAreThere) {
  run([](Endpoint& e) {
    World world(e, {.timeout = 120s});
    const std::string n = std::to_string(world.ranks());
    const HaloPlan plan(layout("i64[" + std::to_string(4 * world.ranks()) + "] on (x=" + n + ") {0: x}"),
                        {{{0, 1, 2, HaloEdge::periodic()}}});
    Tensor x = world.allocate(plan.in()), wide = world.allocate(plan.out());
    HaloExchange halo(world, plan, x, wide);
    const SignalId turn = e.create_signal("turn", 1, in_time());
    const LocalBox& interior = halo.interior();
    expect_equal(e, "the first cell that needs no ghost", interior.offsets[0].value(), 2);
    expect_equal(e, "cells that need no ghost", interior.sizes[0], 1);
    for (Index epoch = 1; epoch <= 3; ++epoch) {
      for (Index k = 0; k < 4; ++k) x.at<Index>({k}) = 4 * e.rank().value() + k + 1000 * epoch;
      // One rank after the other, each alone in its begin().
      if (e.rank() > RankId(0))
        e.wait(turn, 0, static_cast<std::uint64_t>(epoch), Endpoint::Until::greater_equal, in_time());
      halo.begin();
      for (Index k = 0; k < 4; ++k)
        expect_equal(e, "own cell", wide.at<Index>({k + 1}), 4 * e.rank().value() + k + 1000 * epoch);
      if (e.rank() + 1 < RankId(e.ranks()))
        e.notify(next_of(e), turn, 0, static_cast<std::uint64_t>(epoch), Endpoint::Update::set);
      halo.end();
      const Index cells = 4 * e.ranks(), first = 4 * e.rank().value() - 1 + cells;
      for (Index k = 0; k < 7; ++k)
        expect_equal(e, "cell " + std::to_string(k), wide.at<Index>({k}), (first + k) % cells + 1000 * epoch);
    }
  });
}

TEST_P(HaloHalves, HalvesInTheWrongOrderAreRefused) {
  run([](Endpoint& e) {
    World world(e, {.timeout = 120s});
    const HaloPlan plan(layout("i64[8] on (x=" + std::to_string(world.ranks()) + ") {0: x}"),
                        {{{0, 1, 1, HaloEdge::zero()}}});
    Tensor wide = world.allocate(plan.out());
    HaloExchange halo(world, plan, wide);
    expect_error(e, Code::invalid_argument, {"end()", "without a begin()"}, [&] { halo.end(); });
    halo.begin();
    expect_error(e, Code::invalid_argument, {"begin()", "before the end()"}, [&] { halo.begin(); });
    halo.end();
    halo.run();
  });
}

}  // namespace
}  // namespace reshard::multi
