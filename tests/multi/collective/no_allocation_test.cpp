// Runs of collective operations allocate nothing.

#include "collective/every_collective.h"
#include "counting/allocations.h"

namespace reshard::multi {
namespace {

class NoAllocationInCollectives : public EveryCollective {};
RESHARD_ON_EVERY_FABRIC(NoAllocationInCollectives, {1, 2, 6});

void expect_none(World& world, std::string_view what, Collective& operation) {
  Endpoint& endpoint = world.endpoint();
  endpoint.barrier(in_time());  // threads share the counter
  const long before = allocations();
  endpoint.barrier(in_time());
  for (int i = 0; i < 5; ++i) operation.run();
  endpoint.barrier(in_time());
  const long after = allocations();
  endpoint.barrier(in_time());
  expect_equal(endpoint, fmt::format("allocations of {}", what), after - before, 0);
}

TEST_P(NoAllocationInCollectives, FromTheFirstRunOn) {
  run_everywhere([](World& world) {
    for (const Algorithm algorithm : kAlgorithms) {
      const CollectiveOptions options{.algorithm = algorithm};
      AllToAll all_to_all(world, 3000, options);
      AllToAllV all_to_all_v(world, std::vector<Index>(static_cast<std::size_t>(world.ranks()), 70), options);
      AllGather all_gather(world, 3000, options);
      Broadcast broadcast(world, 3000, RankId(0), options);
      ReduceScatter reduce_scatter(world, 3000, Dtype::bf16, ReduceOp::avg, options);
      AllReduce all_reduce(world, 50'000, Dtype::f32, ReduceOp::max, options);
      expect_none(world, "all_to_all", all_to_all);
      expect_none(world, "all_to_all_v", all_to_all_v);
      expect_none(world, "all_gather", all_gather);
      expect_none(world, "broadcast", broadcast);
      expect_none(world, "reduce_scatter", reduce_scatter);
      expect_none(world, "all_reduce", all_reduce);
    }
  });
}

// The counter counts.
TEST_P(NoAllocationInCollectives, ButTheCounterCounts) {
  const long before = allocations();
  const std::vector<int> one(100);
  EXPECT_EQ(allocations() - before, 1);
}

}  // namespace
}  // namespace reshard::multi
