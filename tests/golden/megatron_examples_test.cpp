// The shard planner's worked examples, from records to boxes (E1 to E21): exact boxes, in order, with their task ids.
// Where two boxes of the tables lie one after the other at both ends, ours are one (E11).
#include <numeric>

#include "golden/megatron_records.h"

namespace reshard::megatron {
namespace {

// 1 source, 1 target roster, what `rank` receives.
std::string received(const Records& sources, const Records& targets, Index rank, const ShardOptions& options = {}) {
  return received(planned(rosters(sources, targets), options), rank);
}

TEST(MegatronExamples, E1WindowsWithPaddingToWhole) {
  const Rosters both = rosters(tp2_gtp2({3, 2}, 2), {whole(9, {8, 2})});
  const ShardPlan plan = planned(both);
  EXPECT_EQ(received(plan, 9),
            "(0,[0:3,0:2]->[0:3,0:2]) (2,[0:1,0:2]->[3:4,0:2]) (1,[0:3,0:2]->[4:7,0:2]) (3,[0:1,0:2]->[7:8,0:2])");
  Index elements = 0;
  for (const ShardOperation& operation : plan.operations) elements += operation.elements();
  EXPECT_EQ(elements, 16);
}

TEST(MegatronExamples, E2WindowsToFour) {
  const ShardPlan plan = planned(rosters(tp2_gtp2({3, 2}, 2), tp_shards({10, 11, 12, 13}, {2, 2})));
  EXPECT_EQ(received(plan, 10), "(0,[0:2,0:2]->[0:2,0:2])");
  EXPECT_EQ(received(plan, 11), "(0,[2:3,0:2]->[0:1,0:2]) (2,[0:1,0:2]->[1:2,0:2])");
  EXPECT_EQ(received(plan, 12), "(1,[0:2,0:2]->[0:2,0:2])");
  EXPECT_EQ(received(plan, 13), "(1,[2:3,0:2]->[0:1,0:2]) (3,[0:1,0:2]->[1:2,0:2])");
}

TEST(MegatronExamples, E3WholeToWindowsLeavesPaddingAlone) {
  const ShardPlan plan = planned(rosters({whole(0, {8, 2})}, tp2_gtp2({3, 2}, 2, {}, 20)));
  EXPECT_EQ(received(plan, 20), "(0,[0:3,0:2]->[0:3,0:2])");
  EXPECT_EQ(received(plan, 21), "(0,[4:7,0:2]->[0:3,0:2])");
  EXPECT_EQ(received(plan, 22), "(0,[3:4,0:2]->[0:1,0:2])");
  EXPECT_EQ(received(plan, 23), "(0,[7:8,0:2]->[0:1,0:2])");
}

TEST(MegatronExamples, E4AShardMayBeAllPadding) {
  Records targets;
  for (const Index rank : {30, 31, 32}) targets.push_back(with_gtp(whole(rank, {4, 2}), {30, 31, 32}, 4));
  const ShardPlan plan = planned(rosters(tp2_gtp2({3, 2}, 2), targets));
  EXPECT_EQ(received(plan, 30), "(0,[0:3,0:2]->[0:3,0:2]) (2,[0:1,0:2]->[3:4,0:2])");
  EXPECT_EQ(received(plan, 31), "(1,[0:3,0:2]->[0:3,0:2]) (3,[0:1,0:2]->[3:4,0:2])");
  EXPECT_EQ(received(plan, 32), "");
}

TEST(MegatronExamples, E5ColumnParallel) {
  const ShardPlan plan = planned(rosters(tp_shards({0, 1, 2, 3}, {2, 4}), tp_shards({4, 5}, {4, 4})));
  EXPECT_EQ(received(plan, 4), "(0,[0:2,0:4]->[0:2,0:4]) (1,[0:2,0:4]->[2:4,0:4])");
  EXPECT_EQ(received(plan, 5), "(2,[0:2,0:4]->[0:2,0:4]) (3,[0:2,0:4]->[2:4,0:4])");
}

TEST(MegatronExamples, E6RowParallel) {
  const ShardPlan plan =
      planned(rosters(tp_shards({0, 1, 2, 3}, {4, 2}, {.dim = 1}), tp_shards({4, 5}, {4, 4}, {.dim = -1})));
  EXPECT_EQ(received(plan, 4), "(0,[0:4,0:2]->[0:4,0:2]) (1,[0:4,0:2]->[0:4,2:4])");
  EXPECT_EQ(received(plan, 5), "(2,[0:4,0:2]->[0:4,0:2]) (3,[0:4,0:2]->[0:4,2:4])");
}

TEST(MegatronExamples, E7ChangeOfDimension) {
  const ShardPlan plan = planned(rosters(tp_shards({0, 1}, {2, 4}), tp_shards({2, 3}, {4, 2}, {.dim = 1})));
  EXPECT_EQ(received(plan, 2), "(0,[0:2,0:2]->[0:2,0:2]) (1,[0:2,0:2]->[2:4,0:2])");
  EXPECT_EQ(received(plan, 3), "(0,[0:2,2:4]->[0:2,0:2]) (1,[0:2,2:4]->[2:4,0:2])");
}

TEST(MegatronExamples, E8ThreeToFour) {
  const ShardPlan plan = planned(rosters(tp_shards({0, 1, 2}, {4}), tp_shards({10, 11, 12, 13}, {3})));
  EXPECT_EQ(received(plan, 10), "(0,[0:3]->[0:3])");
  EXPECT_EQ(received(plan, 11), "(0,[3:4]->[0:1]) (1,[0:2]->[1:3])");
  EXPECT_EQ(received(plan, 12), "(1,[2:4]->[0:2]) (2,[0:1]->[2:3])");
  EXPECT_EQ(received(plan, 13), "(2,[1:4]->[0:3])");
}

TEST(MegatronExamples, E9FusedGateAndUp) {
  EXPECT_EQ(received(tp_shards({0, 1}, {4}, {.stride = 2}), {whole(9, {8})}, 9),
            "(0,[0:2]->[0:2]) (1,[0:2]->[2:4]) (0,[2:4]->[4:6]) (1,[2:4]->[6:8])");
}

TEST(MegatronExamples, E10StridedTwoToFourAndBack) {
  const ShardPlan there =
      planned(rosters(tp_shards({0, 1}, {8}, {.stride = 2}), tp_shards({10, 11, 12, 13}, {4}, {.stride = 2})));
  EXPECT_EQ(received(there, 10), "(0,[0:2]->[0:2]) (0,[4:6]->[2:4])");
  EXPECT_EQ(received(there, 11), "(0,[2:4]->[0:2]) (0,[6:8]->[2:4])");
  EXPECT_EQ(received(there, 12), "(1,[0:2]->[0:2]) (1,[4:6]->[2:4])");
  EXPECT_EQ(received(there, 13), "(1,[2:4]->[0:2]) (1,[6:8]->[2:4])");
  const ShardPlan back =
      planned(rosters(tp_shards({0, 1, 2, 3}, {4}, {.stride = 2}), tp_shards({10, 11}, {8}, {.stride = 2})));
  EXPECT_EQ(received(back, 10), "(0,[0:2]->[0:2]) (1,[0:2]->[2:4]) (0,[2:4]->[4:6]) (1,[2:4]->[6:8])");
  EXPECT_EQ(received(back, 11), "(2,[0:2]->[0:2]) (3,[0:2]->[2:4]) (2,[2:4]->[4:6]) (3,[2:4]->[6:8])");
}

TEST(MegatronExamples, E11ThreeStridesToTwo) {
  const ShardPlan plan =
      planned(rosters(tp_shards({0, 1, 2, 3}, {36}, {.stride = 3}), tp_shards({100, 101}, {72}, {.stride = 2})));
  EXPECT_EQ(received(plan, 100),
            "(0,[0:12]->[0:12]) (1,[0:12]->[12:24]) (2,[0:24]->[24:48]) (3,[12:24]->[48:60]) (0,[24:36]->[60:72])");
  EXPECT_EQ(received(plan, 101),
            "(3,[0:12]->[0:12]) (0,[12:24]->[12:24]) (1,[12:36]->[24:48]) (2,[24:36]->[48:60]) (3,[24:36]->[60:72])");
}

TEST(MegatronExamples, E12StridedWithWindows) {
  EXPECT_EQ(received(tp2_gtp2({2, 3}, 0, {.stride = 2}), {whole(9, {8, 3})}, 9),
            "(0,[0:2,0:3]->[0:2,0:3]) (1,[0:2,0:3]->[2:4,0:3]) (2,[0:2,0:3]->[4:6,0:3]) (3,[0:2,0:3]->[6:8,0:3])");
}

TEST(MegatronExamples, E13PackedQkv) {
  EXPECT_EQ(received(tp_shards({0, 1}, {12}, {.sizes = {8, 2, 2}}), {whole(9, {24})}, 9),
            "(0,[0:8]->[0:8]) (1,[0:8]->[8:16]) (0,[8:10]->[16:18]) (1,[8:10]->[18:20]) (0,[10:12]->[20:22]) "
            "(1,[10:12]->[22:24])");
}

TEST(MegatronExamples, E14PackedTwoToFour) {
  const ShardPlan plan = planned(
      rosters(tp_shards({0, 1}, {12}, {.sizes = {8, 2, 2}}), tp_shards({10, 11, 12, 13}, {6}, {.sizes = {4, 1, 1}})));
  for (Index r = 0; r < 2; ++r) {
    EXPECT_EQ(received(plan, 10 + 2 * r), fmt::format("({0},[0:4]->[0:4]) ({0},[8:9]->[4:5]) ({0},[10:11]->[5:6])", r));
    EXPECT_EQ(received(plan, 11 + 2 * r),
              fmt::format("({0},[4:8]->[0:4]) ({0},[9:10]->[4:5]) ({0},[11:12]->[5:6])", r));
  }
}

TEST(MegatronExamples, E15PackedWithPaddedWindows) {
  EXPECT_EQ(received(tp2_gtp2({2, 2}, 1, {.sizes = {2, 1}}), {whole(9, {6, 2})}, 9),
            "(0,[0:2,0:2]->[0:2,0:2]) (1,[0:2,0:2]->[2:4,0:2]) (2,[0:1,0:2]->[4:5,0:2]) (3,[0:1,0:2]->[5:6,0:2])");
}

TEST(MegatronExamples, E16RowParallelWithWindows) {
  EXPECT_EQ(received(tp2_gtp2({4, 4}, 0, {.dim = 1}), {whole(9, {8, 8})}, 9),
            "(0,[0:4,0:4]->[0:4,0:4]) (1,[0:4,0:4]->[0:4,4:8]) (2,[0:4,0:4]->[4:8,0:4]) (3,[0:4,0:4]->[4:8,4:8])");
}

// "task: source «its name» [slices of dimension 0] of target".
std::vector<std::string> tasks(const Rosters& both, const ShardPlan& plan) {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < plan.operations.size(); ++k) {
    const ShardOperation& operation = plan.operations[k];
    lines.push_back(fmt::format("{}: {} {} {} {} {}", k, operation.source.value(),
                                both.sources.parameters[static_cast<std::size_t>(operation.source_parameter)].name,
                                text(operation), operation.target.value(),
                                both.targets.parameters[static_cast<std::size_t>(operation.target_parameter)].name));
  }
  return lines;
}

Parameter expert(Index rank, const std::string& name, std::vector<Index> shape, const Ranks& ep, const Ranks& etp) {
  Parameter parameter = whole(rank, std::move(shape), name);
  parameter.resolved_name.clear();
  parameter.is_ep = true;
  parameter.num_experts = 4;
  parameter.ep_group = group(ep);
  parameter.tp_group = group(etp);
  parameter.is_tp = etp.size() > 1;
  return parameter;
}

TEST(MegatronExamples, E17ExpertsEp2Etp2ToEp4Etp1) {
  Rosters both;
  for (Index rank = 0; rank < 4; ++rank)
    for (const char* name : {"weight0", "weight1"})
      both.sources.parameters.push_back(
          expert(rank, name, {4, 2}, {rank % 2, rank % 2 + 2}, {rank / 2 * 2, rank / 2 * 2 + 1}));
  for (Index rank = 4; rank < 8; ++rank)
    both.targets.parameters.push_back(expert(rank, "weight0", {8, 2}, {4, 5, 6, 7}, {rank}));
  both.sources = with_names(both.sources);
  both.targets = with_names(both.targets);
  EXPECT_EQ(both.targets.parameters[3].resolved_name, "weight3");
  EXPECT_EQ(tasks(both, planned(both)),
            (std::vector<std::string>{
                "0: 0 weight0 (0,[0:4,0:2]->[0:4,0:2]) 4 weight0", "1: 1 weight0 (1,[0:4,0:2]->[4:8,0:2]) 4 weight0",
                "2: 0 weight1 (0,[0:4,0:2]->[0:4,0:2]) 5 weight0", "3: 1 weight1 (1,[0:4,0:2]->[4:8,0:2]) 5 weight0",
                "4: 2 weight0 (2,[0:4,0:2]->[0:4,0:2]) 6 weight0", "5: 3 weight0 (3,[0:4,0:2]->[4:8,0:2]) 6 weight0",
                "6: 2 weight1 (2,[0:4,0:2]->[0:4,0:2]) 7 weight0", "7: 3 weight1 (3,[0:4,0:2]->[4:8,0:2]) 7 weight0"}));
}

void add_layer(Roster& roster, Index rank, Index local, Index layer_number) {
  const std::string path = fmt::format("decoder.layers.{}", local);
  roster.modules.push_back({RankId(rank), path, layer_number});
  roster.parameters.push_back(whole(rank, {4}, path + ".weight"));
  roster.parameters.back().resolved_name.clear();
}

TEST(MegatronExamples, E18TwoStagesToOne) {
  Rosters both;
  for (Index rank = 0; rank < 2; ++rank)
    for (Index local = 0; local < 2; ++local) add_layer(both.sources, rank, local, rank * 2 + local + 1);
  for (Index layer = 0; layer < 4; ++layer) add_layer(both.targets, 2, layer, layer + 1);
  both.sources = with_names(both.sources);
  both.targets = with_names(both.targets);
  EXPECT_EQ(both.sources.parameters[2].resolved_name, "decoder.layers.2.weight");
  EXPECT_EQ(tasks(both, planned(both)),
            (std::vector<std::string>{"0: 0 decoder.layers.0.weight (0,[0:4]->[0:4]) 2 decoder.layers.0.weight",
                                      "1: 0 decoder.layers.1.weight (0,[0:4]->[0:4]) 2 decoder.layers.1.weight",
                                      "2: 1 decoder.layers.0.weight (1,[0:4]->[0:4]) 2 decoder.layers.2.weight",
                                      "3: 1 decoder.layers.1.weight (1,[0:4]->[0:4]) 2 decoder.layers.3.weight"}));
}

TEST(MegatronExamples, E18ATiedOutputLayerIsFilledFromTheEmbedding) {
  const Rosters both =
      rosters({whole(0, {6, 2}, "embedding.word_embeddings.weight")},
              {whole(1, {6, 2}, "embedding.word_embeddings.weight"), whole(2, {6, 2}, "output_layer.weight")});
  const ShardPlan plan = planned(both);
  EXPECT_EQ(received(plan, 1), "(0,[0:6,0:2]->[0:6,0:2])");
  EXPECT_EQ(received(plan, 2), "(0,[0:6,0:2]->[0:6,0:2])");
  EXPECT_TRUE(plan.unwanted.empty());
}

TEST(MegatronExamples, E19ChoiceOfTheReplicaAsMegatron) {
  Records sources, targets;
  for (Index rank = 0; rank < 4; ++rank)
    sources.push_back(
        with_dp(with_tp(whole(rank, {2, 2}), {rank / 2 * 2, rank / 2 * 2 + 1}), {rank % 2, rank % 2 + 2}));
  for (Index rank = 4; rank < 8; ++rank) targets.push_back(whole(rank, {4, 2}));
  const ShardPlan plan = planned(rosters(sources, targets), {.rule = SourceRule::megatron});
  for (const Index rank : {4, 5}) EXPECT_EQ(received(plan, rank), "(0,[0:2,0:2]->[0:2,0:2]) (1,[0:2,0:2]->[2:4,0:2])");
  for (const Index rank : {6, 7}) EXPECT_EQ(received(plan, rank), "(2,[0:2,0:2]->[0:2,0:2]) (3,[0:2,0:2]->[2:4,0:2])");
}

TEST(MegatronExamples, E21PackedToPlainIsRefusedUntilItIsSaidWhichIsMeant) {
  const Records sources = tp_shards({0, 1}, {3}, {.sizes = {2, 1}}), targets = tp_shards({10, 11}, {3});
  EXPECT_EQ(
      refusal(rosters(sources, targets)),
      "tensor 'w': rank 0 lists partition_sizes, pieces [4,2] of the whole, and rank 10 cuts it in 2 without; it "
      "may mean each piece cut on its own (packed) or the whole as it stands (plain), which move different bytes: "
      "list the sizes there too, or say which (mixed packing)");
  const ShardPlan plain = planned(rosters(sources, targets), {.mixed = MixedPacking::plain});
  EXPECT_EQ(received(plain, 10), "(0,[0:2]->[0:2]) (1,[0:1]->[2:3])");
  EXPECT_EQ(received(plain, 11), "(1,[1:2]->[0:1]) (0,[2:3]->[1:2]) (1,[2:3]->[2:3])");
  const ShardPlan packed = planned(rosters(sources, targets), {.mixed = MixedPacking::packed});
  EXPECT_EQ(received(packed, 10), "(0,[0:3]->[0:3])");
  EXPECT_EQ(received(packed, 11), "(1,[0:3]->[0:3])");
}

// Boxes that the planner of least common multiples makes: tiles of one size, never merged.
Index lcm_tiles(Index source_ranks, Index source_stride, Index target_ranks, Index target_stride) {
  return std::lcm(source_ranks * source_stride, target_ranks * target_stride);
}

struct CountRow {
  Index source_ranks, source_stride, target_ranks, target_stride, length, boxes, tiles;
};

Ranks ranks_from(Index first, Index count) {
  Ranks ranks;
  for (Index k = 0; k < count; ++k) ranks.push_back(first + k);
  return ranks;
}

TEST(MegatronExamples, BoxesAgainstTilesOfTheLeastCommonMultiple) {
  const std::vector<CountRow> table = {{7, 1, 8, 1, 56, 14, 56},
                                       {12, 2, 16, 2, 96, 48, 96},
                                       {6, 3, 8, 2, 144, 32, 144},
                                       {24, 1, 36, 1, 72, 48, 72},
                                       {3, 1, 4, 1, 12, 6, 12}};
  for (const CountRow& row : table) {
    const ShardPlan plan = planned(rosters(
        tp_shards(ranks_from(0, row.source_ranks), {row.length / row.source_ranks}, {.stride = row.source_stride}),
        tp_shards(ranks_from(100, row.target_ranks), {row.length / row.target_ranks}, {.stride = row.target_stride})));
    EXPECT_EQ(std::ssize(plan.operations), row.boxes) << row.source_ranks << " -> " << row.target_ranks;
    EXPECT_EQ(lcm_tiles(row.source_ranks, row.source_stride, row.target_ranks, row.target_stride), row.tiles);
  }
}

}  // namespace
}  // namespace reshard::megatron
