// Which copy sends, what ranks derive alone, and what an added rank changes.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "golden/megatron_records.h"

namespace reshard::megatron {
namespace {

using testing::HasSubstr;

// Whole tensors on ranks first..
Records wholes(Index first, Index count, const std::string& name = "w") {
  Records records;
  for (Index k = 0; k < count; ++k) records.push_back(whole(first + k, {48}, name));
  return records;
}

// How many targets each copy of the first shard serves.
std::vector<Index> served(const ShardPlan& plan, Index parts, Index copies) {
  std::vector<Index> served(static_cast<std::size_t>(copies), 0);
  for (const ShardOperation& operation : plan.operations)
    if (operation.source.value() % parts == 0) ++served[static_cast<std::size_t>(operation.source.value() / parts)];
  std::ranges::sort(served);
  return served;
}

struct Balance {
  Index parts, copies, first_target, targets;
  std::vector<Index> megatron, ours;
};

TEST(MegatronChoice, BusiestCopies) {
  const std::vector<Balance> table = {{1, 4, 8, 8, {0, 0, 0, 8}, {2, 2, 2, 2}},
                                      {2, 4, 8, 8, {2, 2, 2, 2}, {2, 2, 2, 2}},
                                      {8, 4, 32, 8, {0, 0, 0, 8}, {2, 2, 2, 2}},
                                      {8, 4, 32, 16, {0, 0, 8, 8}, {4, 4, 4, 4}}};
  for (const Balance& row : table) {
    const Rosters both = rosters(replicas(0, row.parts, row.copies), wholes(row.first_target, row.targets));
    EXPECT_EQ(served(planned(both, {.rule = SourceRule::megatron}), row.parts, row.copies), row.megatron);
    EXPECT_EQ(served(planned(both), row.parts, row.copies), row.ours);
  }
}

// Two groups of copies: the target's rank modulo their number, and its quotient within the group.
TEST(MegatronChoice, CyclesWithinItsGroups) {
  const Records sources = replicas(0, 2, 2);
  const ShardPlan plan = planned(rosters(sources, wholes(4, 8)), {.rule = SourceRule::megatron});
  std::vector<Index> copies;
  for (const ShardOperation& operation : plan.operations)
    if (operation.source.value() % 2 == 0) copies.push_back(operation.source.value() / 2);
  EXPECT_EQ(copies, (std::vector<Index>{0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(MegatronChoice, OnlyTheSelectedCopyIsUsed) {
  // Two copies of two windows each; target 9 of the second group's turn.
  Records sources;
  for (Index k = 0; k < 4; ++k)
    sources.push_back(with_dp(with_gtp(whole(k, {24}), {k / 2 * 2, k / 2 * 2 + 1}), {k % 2, k % 2 + 2}));
  const ShardPlan plan = planned(rosters(sources, {whole(10, {48})}), {.rule = SourceRule::megatron});
  EXPECT_EQ(received(plan, 10), "(2,[0:24]->[0:24]) (3,[0:24]->[24:48])");
}

// A target that holds a shard itself keeps it; Megatron's rule then takes all from its own groups.
TEST(MegatronChoice, ATargetsOwnCopy) {
  const Rosters both = rosters(replicas(0, 2, 2), wholes(2, 2));
  const ShardPlan ours = planned(both), theirs = planned(both, {.rule = SourceRule::megatron});
  EXPECT_THAT(received(ours, 2), HasSubstr("(2,[0:24]->[0:24])"));
  EXPECT_THAT(received(ours, 3), HasSubstr("(3,[0:24]->[24:48])"));
  for (const Index rank : {2, 3}) EXPECT_EQ(received(theirs, rank), "(2,[0:24]->[0:24]) (3,[0:24]->[24:48])");
}

// A dense tensor with equal expert groups on both sides: Megatron takes copies of the target's part only.
TEST(MegatronChoice, ExpertGroupsOfEqualSize) {
  Records sources = wholes(0, 4), targets = wholes(4, 2);
  for (std::size_t k = 0; k < 4; ++k)
    sources[k].ep_group = group({static_cast<Index>(k) % 2, static_cast<Index>(k) % 2 + 2});
  for (Parameter& target : targets) target.ep_group = group({4, 5});
  const ShardPlan plan = planned(rosters(sources, targets), {.rule = SourceRule::megatron});
  EXPECT_EQ(received(plan, 4), "(0,[0:48]->[0:48])");
  EXPECT_EQ(received(plan, 5), "(2,[0:48]->[0:48])");
  // Groups of another size choose nothing.
  for (Parameter& target : targets) target.ep_group = group({4, 5, 6});
  EXPECT_EQ(received(planned(rosters(sources, targets), {.rule = SourceRule::megatron}), 5), "(0,[0:48]->[0:48])");
}

// Many small tensors with one target each do not all burden the first copy.
TEST(MegatronChoice, TensorsTakeTurns) {
  Records sources, targets;
  for (Index k = 0; k < 64; ++k) {
    for (const Parameter& parameter : replicas(0, 1, 4, fmt::format("layers.{}.bias", k))) sources.push_back(parameter);
    targets.push_back(whole(8, {48}, fmt::format("layers.{}.bias", k)));
  }
  std::map<Index, Index> sent;
  for (const ShardOperation& operation : planned(rosters(sources, targets)).operations)
    ++sent[operation.source.value()];
  EXPECT_EQ(sent.size(), 4u);
  for (const auto& [rank, count] : sent) EXPECT_LE(count, 28) << rank;
}

TEST(MegatronRosters, SparseRanksAndRanksOfNeitherSide) {
  const Rosters both = rosters(tp_shards({70, 3}, {2}), tp_shards({900, 41, 5, 6}, {1}));
  const ShardPlan plan = planned(both);
  EXPECT_EQ(received(plan, 900), "(70,[0:1]->[0:1])");
  EXPECT_EQ(received(plan, 6), "(3,[1:2]->[0:1])");
  EXPECT_TRUE(ShardPlanner(both).plan(RankId(8)).operations.empty());
}

// (task, source, target) as each rank derives them alone.
TEST(MegatronRosters, SendsAndReceivesOfAllRanksAgree) {
  Records sources = replicas(0, 4, 2, "a"), targets;
  for (const Parameter& parameter : replicas(0, 2, 4, "b")) sources.push_back(parameter);
  for (const char* name : {"a", "b"})
    for (const Parameter& parameter : replicas(4, 3, 2, name)) targets.push_back(parameter);
  const Rosters both = rosters(sources, targets);
  using Task = std::tuple<Index, Index, Index, Index>;
  for (const SourceRule rule : {SourceRule::balanced, SourceRule::megatron}) {
    std::multiset<Task> sends, receives;
    for (Index rank = 0; rank < 12; ++rank)
      for (const ShardOperation& op : ShardPlanner(both, {.rule = rule}).plan(RankId(rank)).operations) {
        const Task task{op.target_parameter, op.number, op.source.value(), op.target.value()};
        if (op.source == RankId(rank)) sends.insert(task);
        if (op.target == RankId(rank)) receives.insert(task);
      }
    EXPECT_EQ(sends, receives);
    EXPECT_EQ(sends.size(), ShardPlanner(both, {.rule = rule}).plan().operations.size());
    EXPECT_EQ(std::set<Task>(sends.begin(), sends.end()).size(), sends.size());
  }
}

// A rank that is added behind the others changes nothing for them, whoever chooses the copies.
TEST(MegatronRosters, AnAddedRankLeavesOthersAsTheyWere) {
  const Records sources = replicas(0, 2, 3);
  for (const SourceRule rule : {SourceRule::balanced, SourceRule::megatron})
    for (Index targets = 1; targets < 9; ++targets) {
      const ShardPlan before = planned(rosters(sources, wholes(6, targets)), {.rule = rule});
      const ShardPlan after = planned(rosters(sources, wholes(6, targets + 1)), {.rule = rule});
      const std::vector<ShardOperation> kept(after.operations.begin(),
                                             after.operations.begin() + std::ssize(before.operations));
      EXPECT_EQ(kept, before.operations) << targets;
      EXPECT_EQ(after.operations.size(), before.operations.size() + 2);
    }
}

// Copies that are cut differently: each target is filled from one of the ways, its own if it has one.
TEST(MegatronRosters, CopiesThatAreCutDifferently) {
  Records sources = tp_shards({0, 1}, {24});
  for (const Parameter& parameter : tp_shards({4, 5, 6}, {16})) sources.push_back(parameter);
  const ShardPlan plan = planned(rosters(sources, {whole(5, {48}), whole(9, {48})}));
  EXPECT_EQ(received(plan, 5), "(4,[0:16]->[0:16]) (5,[0:16]->[16:32]) (6,[0:16]->[32:48])");
  EXPECT_EQ(received(plan, 9), "(0,[0:24]->[0:24]) (1,[0:24]->[24:48])");
}

// A source that TP does not cut is a copy on every rank of its group.
TEST(MegatronRosters, ReplicatedOverTensorParallel) {
  Records sources = wholes(0, 4);
  for (Parameter& source : sources) source.tp_group = group({0, 1, 2, 3});
  const Records targets = tp_shards({8, 9, 10, 11}, {12});
  std::set<Index> senders;
  for (const ShardOperation& operation : planned(rosters(sources, targets)).operations)
    senders.insert(operation.source.value());
  EXPECT_EQ(senders.size(), 4u);
}

TEST(MegatronRosters, ScalarsAndEmptyTensors) {
  EXPECT_EQ(received(planned(rosters({whole(0, {})}, {whole(1, {})})), 1), "(0,[]->[])");
  EXPECT_EQ(received(planned(rosters({whole(0, {0, 4})}, {whole(1, {0, 4})})), 1), "");
  EXPECT_EQ(received(planned(rosters(tp_shards({0, 1}, {0, 4}), {whole(1, {0, 4})})), 1), "");
}

// Verify finds what a plan does wrong: each damage to a right plan is named.
TEST(MegatronVerify, FindsDamage) {
  const Rosters both = rosters(tp2_gtp2({3, 2}, 2), {whole(9, {8, 2})});
  const ShardPlan right = planned(both);
  const auto faults = [&](const auto& damage) {
    ShardPlan plan = right;
    damage(plan.operations);
    std::string all;
    for (const Fault& fault : verify(both, plan)) all += fault.message + "; ";
    return all;
  };
  EXPECT_EQ(faults([](auto&) {}), "");
  EXPECT_THAT(faults([](auto& ops) { ops.pop_back(); }), HasSubstr("'w' of rank 9: 14 of 16 elements are written"));
  EXPECT_THAT(faults([](auto& ops) { ops.push_back(ops[0]); }), HasSubstr("[0:3, 0:2] is written twice"));
  EXPECT_THAT(faults([](auto& ops) { ops[1].box[0].source = LocalIndex(1); }),
              HasSubstr("dimension 0: [1:2) of rank 2"));
  EXPECT_THAT(faults([](auto& ops) { ops[1].box[0].length = 2; }), HasSubstr("dimension 0"));
  EXPECT_THAT(faults([](auto& ops) { ops[0].source = RankId(1); }),
              HasSubstr("the records are those of ranks 0 and 9"));
  EXPECT_THAT(faults([](auto& ops) { ops[0].source_parameter = 77; }), HasSubstr("parameters 77 and 0"));
  EXPECT_THAT(faults([](auto& ops) { ops[0].box.pop_back(); }), HasSubstr("1 dimensions"));
}

}  // namespace
}  // namespace reshard::megatron
