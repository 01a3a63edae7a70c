// How much work one rank's plan of a large model is. Counted, not timed.
#include "golden/megatron_records.h"

namespace reshard::megatron {
namespace {

// 10,000 tensors on each of 64 ranks, TP 8 x DP 4 to TP 4 x DP 8: one rank's plan looks at what it has to do with, and
// the work is counted, not timed.
TEST(MegatronScale, OneRankOfTenThousandTensors) {
  constexpr Index kTensors = 10000;
  Rosters both;
  both.sources.parameters.reserve(32 * kTensors);
  both.targets.parameters.reserve(32 * kTensors);
  const Records from = replicas(0, 8, 4), to = replicas(32, 4, 8);
  for (Index k = 0; k < kTensors; ++k) {
    const std::string name = fmt::format("decoder.layers.{}.w{}", k / 100, k % 100);
    for (const auto& [records, roster] : {std::pair(&from, &both.sources), std::pair(&to, &both.targets)})
      for (Parameter parameter : *records) {
        parameter.name = parameter.resolved_name = name;
        roster->parameters.push_back(std::move(parameter));
      }
  }
  ShardPlanner planner(both);
  const ShardPlan sender = planner.plan(RankId(0)), receiver = ShardPlanner(both).plan(RankId(32));
  EXPECT_EQ(std::ssize(receiver.operations), kTensors * 2);  // 12 of 48 elements, from two shards of 6
  for (const ShardOperation& operation : receiver.operations) ASSERT_EQ(operation.target, RankId(32));
  // Shard 0 has 4 copies and 8 targets, which they share by turns.
  EXPECT_EQ(std::ssize(sender.operations), kTensors * 2);
  // Per tensor: 64 records; runs that overlap; receivers of the shards met; no product of sources and targets, which
  // were 32 x 32 = 1024 pairs.
  EXPECT_EQ(receiver.steps, kTensors * 90);
  EXPECT_EQ(sender.steps, kTensors * 134);
}

}  // namespace
}  // namespace reshard::megatron
