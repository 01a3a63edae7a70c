// Class M, and L where it concerns descriptions: what a trainer holds and what an inference fleet wants.
#include <gmock/gmock.h>

#include "cases/moved.h"
#include "golden/megatron_records.h"
#include "reshard/boxes.h"

namespace reshard::megatron {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Rows q0-q3, k0, v0, q4-q7, k1, v1 on 4 ranks, 3 each; pieces of it to tensors of their own.
class FusedRows {
 public:
  // Moves rows [from, from + count) of the fused tensor to rows [to, to + count) of one of `extent` rows on `mesh`.
  void move(Index from, Index count, Index to, Index extent, const std::string& mesh) {
    const Plan made = plan(layout(fmt::format("i32[12][{}:{}] on (tp=4) {{0: tp}}", from, from + count)),
                           layout(fmt::format("i32[{}][{}:{}] on {}", extent, to, to + count, mesh)));
    for (const Fault& fault : verify(made)) ADD_FAILURE() << fault.message;
    const oracle::Side target = oracle::side_of(made.target());
    if (after_.empty()) after_ = oracle::poisoned(target);
    oracle::apply(made, oracle::side_of(made.source()), target, before_, after_);
    for (const Transfer& transfer : made.transfers()) senders_.insert(transfer.source.value());
  }
  Values rows(Index rank) const {
    Values rows;
    for (const Index stamp : after_.at(rank)) rows.push_back(stamp == oracle::poison ? oracle::poison : stamp / 7);
    return rows;
  }
  const std::set<Index>& senders() const { return senders_; }

 private:
  oracle::Buffers before_ = oracle::stamped(oracle::side_of(layout("i32[12] on (tp=4) {0: tp}")), 0);
  oracle::Buffers after_;
  std::set<Index> senders_;
};

TEST(CaseM, M1FewerKvHeadsThanRanks) {
  FusedRows q, k, v, half;
  for (Index group = 0; group < 2; ++group) {
    q.move(6 * group, 4, 4 * group, 8, "()@9");
    k.move(6 * group + 4, 1, group, 2, "()@9");
    v.move(6 * group + 5, 1, group, 2, "()@9");
    half.move(6 * group, 4, 4 * group, 8, "(tp=2)@9 {0: tp}");
  }
  EXPECT_EQ(q.rows(9), (Values{0, 1, 2, 3, 6, 7, 8, 9}));
  EXPECT_EQ(k.rows(9), (Values{4, 10}));
  EXPECT_EQ(v.rows(9), (Values{5, 11}));
  EXPECT_EQ(half.rows(9), (Values{0, 1, 2, 3}));
  EXPECT_EQ(half.rows(10), (Values{6, 7, 8, 9}));
  for (const FusedRows* kv : {&k, &v}) EXPECT_EQ(kv->senders(), (std::set<Index>{1, 3}));
}

// Heads 0, 0, 1, 1 on 4 ranks: two copies of two heads.
TEST(CaseM, M2ReplicatedKvHeads) {
  Records sources;
  for (Index rank = 0; rank < 4; ++rank)
    sources.push_back(
        with_dp(with_tp(whole(rank, {1, 8}), {rank % 2, rank % 2 + 2}), {rank / 2 * 2, rank / 2 * 2 + 1}));
  const ShardPlan plan = planned(rosters(sources, {whole(9, {2, 8})}));
  ASSERT_EQ(plan.operations.size(), 2u);
  EXPECT_EQ(plan.operations[0].source.value() / 2, 0);
  EXPECT_EQ(plan.operations[1].source.value() / 2, 1);
  EXPECT_EQ(plan.operations[1].box[0].target, LocalIndex(1));
  // Four shards of one head would be four heads.
  EXPECT_THAT(refusal(rosters(tp_shards({0, 1, 2, 3}, {1, 8}), {whole(9, {2, 8})})),
              AllOf(HasSubstr("[4,8]"), HasSubstr("[2,8]")));
}

TEST(CaseM, M4GatherOfAPackedProjection) {
  const Moved gathered("i32[6] on (tp=2) {0: tp:packed[1,1,1]}", "i32[6] on (r=2)");
  EXPECT_EQ(gathered.before(0), (Values{0, 2, 4}));
  EXPECT_EQ(gathered.before(1), (Values{1, 3, 5}));
  for (const Index rank : {0, 1}) EXPECT_EQ(gathered.after(rank), from_to(0, 6));
  EXPECT_EQ(received(planned(rosters(tp_shards({0, 1}, {3}, {.sizes = {1, 1, 1}}), {whole(9, {6})})), 9),
            "(0,[0:1]->[0:1]) (1,[0:1]->[1:2]) (0,[1:2]->[2:3]) (1,[1:2]->[3:4]) (0,[2:3]->[4:5]) (1,[2:3]->[5:6])");
}

constexpr const char* kEmbedding = "embedding.word_embeddings.weight";
constexpr const char* kHead = "output_layer.weight";

TEST(CaseM, M6BothNamesOfATiedWeightAreRefreshed) {
  const ShardPlan plan =
      planned(rosters({whole(0, {6, 2}, kEmbedding)}, {whole(4, {6, 2}, kEmbedding), whole(5, {6, 2}, kHead)}));
  for (const Index rank : {4, 5}) EXPECT_EQ(received(plan, rank), "(0,[0:6,0:2]->[0:6,0:2])");
  // Cut on one side, and on one rank under both names.
  Records sources;
  for (const Index rank : {0, 1}) sources.push_back(with_tp(whole(rank, {3, 2}, kEmbedding), {0, 1}));
  const ShardPlan one = planned(rosters(sources, {whole(4, {6, 2}, kEmbedding), whole(4, {6, 2}, kHead)}));
  EXPECT_EQ(one.operations.size(), 4u);
  // A target name that nothing covers fails; a source name that nobody wants is told.
  EXPECT_THAT(refusal(rosters({whole(0, {6, 2}, "other")}, {whole(5, {6, 2}, kHead)})), HasSubstr(kHead));
  EXPECT_EQ(planned(rosters({whole(0, {6, 2}, kEmbedding), whole(1, {6, 2}, kHead)}, {whole(4, {6, 2}, kEmbedding)}))
                .unwanted,
            (std::vector<std::string>{kHead}));
}

TEST(CaseL, L1MissingShardFlag) {
  EXPECT_EQ(refusal(rosters({whole(0, {128, 32})}, {whole(4, {64, 32}), whole(5, {64, 32})})),
            "tensor 'w': source rank 0 describes the whole as [128,32] (stored [128,32]) and target rank 4 as [64,32] "
            "(stored [64,32]); check is_tp, partition_dim, the groups and the padding of either record");
}

// Each of two ranks calls its two experts 0 and 1.
TEST(CaseL, L3LocalNumbersOfExperts) {
  const auto expert = [](Index rank, const std::string& name, const Ranks& ep) {
    Parameter parameter = whole(rank, {3}, name);
    parameter.resolved_name.clear();
    parameter.is_ep = true;
    parameter.num_experts = 4;
    parameter.ep_group = group(ep);
    return parameter;
  };
  Rosters both;
  for (const Index rank : {0, 1})
    for (const char* name : {"weight0", "weight1"}) both.sources.parameters.push_back(expert(rank, name, {0, 1}));
  for (Index k = 0; k < 4; ++k) both.targets.parameters.push_back(expert(9, fmt::format("weight{}", k), {9}));
  both = {with_names(both.sources), with_names(both.targets)};
  const ShardPlan plan = planned(both);
  ASSERT_EQ(plan.operations.size(), 4u);
  for (Index k = 0; k < 4; ++k) {
    const auto& operation = plan.operations[static_cast<std::size_t>(k)];
    EXPECT_EQ(operation.source, RankId(k / 2));
    EXPECT_EQ(operation.source_parameter, k);
  }
  // The experts of a rank in one tensor: one name, and each part claims to be all of it.
  Rosters fused;
  for (const Index rank : {0, 1}) fused.sources.parameters.push_back(expert(rank, "experts.weight", {0, 1}));
  fused.targets.parameters.push_back(expert(9, "experts.weight", {9}));
  EXPECT_THAT(refusal({with_names(fused.sources), with_names(fused.targets)}),
              AllOf(HasSubstr("experts.weight"), HasSubstr("2 parts"), HasSubstr("rank 9")));
}

TEST(CaseL, L5BoundsTheWrongWayRound) {
  const auto box = [](Index begin, Index end) { return Box{{GlobalIndex(begin)}, {end - begin}}; };
  EXPECT_THROW(BoxList(Dtype::f32, {32}, {{RankId(0), box(16, 0)}, {RankId(1), box(32, 16)}}), Error);
  EXPECT_THAT(refusal(rosters({whole(0, {-16})}, {whole(1, {-16})})), HasSubstr("negative extent"));
  EXPECT_THAT(refusal(rosters(tp_shards({0, 1}, {16}, {.sizes = {32, -16}}), {whole(4, {32})})),
              HasSubstr("negative size"));
}

}  // namespace
}  // namespace reshard::megatron
