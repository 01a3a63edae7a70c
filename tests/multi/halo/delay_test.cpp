// Two ranks that are each other's neighbours on both sides, where messages of two sides can be taken for each other:
// ten thousand exchanges of a ring of two, held up at random.
#include "every_fabric.h"
#include "multi/halo/expect_halo.h"
#include "reshard/wrap.h"

namespace reshard::multi {
namespace {

class DelayedHalo : public EveryFabric {};
RESHARD_ON_FABRICS_WHERE(traits.is_one_host, DelayedHalo, {2});

constexpr Index kSeeds = 10, kExchanges = 500;

// [op.periodic]
TEST_P(DelayedHalo, TenThousandExchangesOfARingOfTwo) {
  for (Index seed = 1; seed <= kSeeds; ++seed)
    for (const Index per_host : {1, 2})
      run([&](Endpoint& inner) {
        const std::unique_ptr<Endpoint> hosts = on_hosts(inner, per_host);
        const std::unique_ptr<Endpoint> e =
            delayed(*hosts, {.seed = static_cast<std::uint64_t>(seed), .one_in = 6, .longest = 4us});
        World world(*e, {.timeout = 120s});
        const HaloPlan plan(layout("i64[5] on (x=2) {0: x}"), {{{0, 2, 1, HaloEdge::periodic()}}});
        Tensor x = world.allocate(plan.in()), wide = world.allocate(plan.out());
        HaloExchange halo(world, plan, x, wide);
        const std::vector<Index> cells =
            world.rank() == RankId(0) ? std::vector<Index>{3, 4, 0, 1, 2, 3} : std::vector<Index>{1, 2, 3, 4, 0};
        for (Index epoch = 1; epoch <= kExchanges; ++epoch) {
          for (Index k = 0; k < 3 - world.rank().value(); ++k)
            x.at<Index>({k}) = 3 * world.rank().value() + k + 10 * epoch;
          halo.run();
          for (std::size_t k = 0; k < cells.size(); ++k)
            expect_equal(*e,
                         "cell " + std::to_string(k) + " in exchange " + std::to_string(epoch) + " of seed " +
                             std::to_string(seed),
                         wide.at<Index>({static_cast<Index>(k)}), cells[k] + 10 * epoch);
        }
      });
}

}  // namespace
}  // namespace reshard::multi
