// Every description that is wrong is refused, by an error that names tensor, ranks, values and the way out (E20).
#include <gmock/gmock.h>

#include "golden/megatron_records.h"

namespace reshard::megatron {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(MegatronErrors, ShapesThatDiffer) {
  EXPECT_EQ(refusal(rosters({whole(0, {64, 128})}, {whole(4, {64, 100})})),
            "tensor 'w': source rank 0 describes the whole as [64,128] (stored [64,128]) and target rank 4 as [64,100] "
            "(stored [64,100]); check is_tp, partition_dim, the groups and the padding of either record");
  // A dimension that nobody cuts counts too, and so does the number of dimensions.
  EXPECT_THAT(refusal(rosters(tp_shards({0, 1}, {4, 6}), tp_shards({2, 3}, {4, 5}))), HasSubstr("[8,6]"));
  EXPECT_THAT(refusal(rosters({whole(0, {4})}, {whole(1, {4, 1})})), HasSubstr("[4,1]"));
}

TEST(MegatronErrors, DtypesThatDiffer) {
  Parameter target = whole(4, {8});
  target.dtype = Dtype::bf16;
  EXPECT_EQ(refusal(rosters({whole(0, {8})}, {target})),
            "tensor 'w': source rank 0 holds f32 and target rank 4 wants bf16; convert before or after the move");
}

TEST(MegatronErrors, MissingGroup) {
  Parameter source = whole(0, {4});
  source.is_tp = true;
  EXPECT_EQ(refusal(rosters({source}, {whole(4, {8})})),
            "tensor 'w' of rank 0: is_tp is set and the tensor parallel group is missing; list its ranks, or clear the "
            "flag");
  source.is_tp = false;
  source.is_gtp = true;
  EXPECT_THAT(refusal(rosters({source}, {whole(4, {8})})), HasSubstr("is_gtp is set and the GTP group is missing"));
}

TEST(MegatronErrors, GroupsInDifferentOrdersOverlap) {
  const Records sources = {with_gtp(whole(0, {2, 2}), {0, 1}), with_gtp(whole(1, {2, 2}), {1, 0})};
  EXPECT_EQ(
      refusal(rosters(sources, {whole(4, {4, 2})})),
      "tensor 'w': source rank 0 lists its GTP group as [0,1] and rank 1 as [1,0], so that both claim place 0 and "
      "overlap in [0:2, 0:2]; all members must list it in the same order");
  // On the side of the targets no less.
  EXPECT_THAT(refusal(rosters({whole(4, {4, 2})}, sources)), HasSubstr("target rank 0 lists its GTP group as [0,1]"));
}

TEST(MegatronErrors, GroupsThatAreNoGridOverlap) {
  const Records sources = {
      with_gtp(with_tp(whole(0, {2}), {0, 1}), {0, 3}), with_gtp(with_tp(whole(1, {2}), {0, 1}), {2, 1}),
      with_gtp(with_tp(whole(2, {2}), {2, 3}), {2, 1}), with_gtp(with_tp(whole(3, {2}), {2, 3}), {0, 3})};
  EXPECT_THAT(refusal(rosters(sources, {whole(4, {8})})),
              AllOf(HasSubstr("source ranks 0 and 2"), HasSubstr("overlap"), HasSubstr("'w'")));
}

TEST(MegatronErrors, OneTensorOfARankListedTwice) {
  EXPECT_EQ(refusal(rosters({whole(0, {8})}, {whole(4, {8}), whole(5, {8}), whole(4, {8})})),
            "tensor 'w': two target records of rank 4 are both locally 'w'; list each tensor of a rank once, and check "
            "owner_rank");
  EXPECT_THAT(refusal(rosters({whole(0, {8}), whole(0, {8})}, {whole(4, {8})})),
              HasSubstr("two source records of rank 0"));
}

TEST(MegatronErrors, MembersThatDiffer) {
  const auto of = [](const Parameter& first, const Parameter& second) {
    return refusal(rosters({first, second}, {whole(9, {8})}));
  };
  const Parameter a = with_tp(whole(0, {4}), {0, 1}), b = with_tp(whole(1, {4}), {0, 1});
  Parameter other = b;
  other.shape = {3};
  EXPECT_THAT(of(a, other), HasSubstr("the stored shape is [4] on rank 0 and [3] on rank 1"));
  other = b;
  other.partition_stride = 2;
  EXPECT_THAT(of(a, other), HasSubstr("partition_stride is 1 on rank 0 and 2 on rank 1"));
  other = b;
  other.partition_sizes = {3, 1};
  EXPECT_THAT(of(a, other), HasSubstr("partition_sizes is [] on rank 0 and [3,1] on rank 1"));
  other = b;
  other.is_tp = false;
  EXPECT_THAT(of(a, other), HasSubstr("is_tp is true on rank 0 and false on rank 1"));
  other = b;
  other.dtype = Dtype::f16;
  EXPECT_THAT(of(a, other), HasSubstr("dtype is f32 on rank 0 and f16 on rank 1"));
  other = with_tp(whole(1, {4}), {0, 1, 2});
  EXPECT_THAT(of(a, other), HasSubstr("the size of the tensor parallel group is 2 on rank 0 and 3 on rank 1"));
  EXPECT_THAT(of(with_gtp(whole(0, {4}), {0, 1}, 1), with_gtp(whole(1, {4}), {0, 1}, 2)),
              HasSubstr("gtp_pad_length is 1 on rank 0 and 2 on rank 1"));
}

// Groups that say who else has the tensor must agree too, also where no shard depends on them.
TEST(MegatronErrors, MembersThatListOtherCopies) {
  EXPECT_EQ(
      refusal(rosters({with_dp(whole(0, {4}), {0, 1}), with_dp(whole(1, {4}), {1, 0})}, {whole(9, {4})})),
      "tensor 'w': source rank 0 lists its data parallel group as [0,1] and rank 1 as [1,0]; all members must list "
      "it in the same order");
  Parameter a = whole(0, {4}), b = whole(1, {4});
  a.ep_group = group({0, 1});
  b.ep_group = group({1, 2});
  EXPECT_THAT(refusal(rosters({a, b}, {whole(9, {4})})),
              HasSubstr("expert parallel group as [0,1] and rank 1 as [1,2]"));
}

TEST(MegatronErrors, RankOutsideItsOwnGroup) {
  EXPECT_EQ(refusal(rosters({with_tp(whole(3, {4}), {0, 1})}, {whole(4, {8})})),
            "tensor 'w' of rank 3: the rank is not in its own tensor parallel group [0,1]");
  EXPECT_THAT(refusal(rosters({with_dp(whole(3, {4}), {0, 1})}, {whole(4, {4})})), HasSubstr("data parallel group"));
  EXPECT_THAT(refusal(rosters({with_gtp(whole(3, {4}), {0, 1})}, {whole(4, {8})})), HasSubstr("GTP group [0,1]"));
}

TEST(MegatronErrors, SizesStridesAndPadding) {
  EXPECT_EQ(refusal(rosters(tp_shards({0, 1}, {4}, {.sizes = {2, 1}}), {whole(4, {8})})),
            "tensor 'w' of rank 0: partition_sizes [2,1] add up to 3, and a tensor parallel rank has 4 elements along "
            "dimension 0; list the sizes of one rank, padding left out");
  EXPECT_EQ(refusal(rosters(tp_shards({0, 1}, {4}, {.stride = 3}), {whole(4, {8})})),
            "tensor 'w' of rank 0: the 4 elements of a tensor parallel rank along dimension 0 are not divisible by "
            "partition_stride 3");
  EXPECT_EQ(
      refusal(rosters({with_gtp(whole(0, {1}), {0, 1}, 2), with_gtp(whole(1, {1}), {0, 1}, 2)}, {whole(4, {1})})),
      "tensor 'w' of rank 0: 1 stored rows on each of 2 ranks less 2 of padding leave 0; the padding is that of the "
      "whole group");
  EXPECT_THAT(refusal(rosters(tp_shards({0, 1}, {4}, {.sizes = {5, -1}}), {whole(4, {8})})),
              HasSubstr("negative size"));
  EXPECT_THAT(refusal(rosters(tp_shards({0, 1}, {4}, {.stride = -2}), {whole(4, {8})})),
              HasSubstr("stride -2 is negative"));
  EXPECT_THAT(refusal(rosters({with_gtp(whole(0, {4}), {0}, -1)}, {whole(4, {5})})), HasSubstr("-1 is negative"));
  EXPECT_THAT(refusal(rosters({whole(0, {-4})}, {whole(4, {4})})), HasSubstr("shape [-4]"));
  EXPECT_THAT(refusal(rosters(tp_shards({0, 1}, {4}, {.dim = 1}), {whole(4, {8})})),
              HasSubstr("partition_dim 1 of a tensor of 1 dimensions"));
  EXPECT_THAT(refusal(rosters(tp_shards({0, 1}, {4}, {.dim = -2}), {whole(4, {8})})), HasSubstr("partition_dim -2"));
  EXPECT_THAT(refusal(rosters({with_gtp(whole(0, {}), {0, 1})}, {whole(4, {})})), HasSubstr("no rows"));
  EXPECT_THAT(refusal(rosters({whole(0, {INT64_MAX, 2})}, {whole(4, {INT64_MAX, 2})})),
              HasSubstr("elements of a tensor"));
}

// "covered .. of ..": how much is there, from whom, and what is missing.
TEST(MegatronErrors, AShardOfTheSourceIsMissing) {
  Records sources = tp2_gtp2({3, 2}, 2);
  sources.erase(sources.begin() + 1);
  const std::string expected =
      "tensor 'w': covered 10 of 16 elements of target rank 9 from ranks [0, 2, 3]; missing is place 1 of tensor "
      "parallel and 0 of GTP, [4:7, 0:2]; list the records of all ranks of the source's groups";
  EXPECT_EQ(refusal(rosters(sources, {whole(9, {8, 2})})), expected);
  EXPECT_EQ(refusal(rosters(sources, {whole(9, {8, 2})}), {.rule = SourceRule::megatron}), expected);
  // A target that needs nothing of it is filled.
  EXPECT_EQ(refusal(rosters(sources, {with_tp(whole(9, {4, 2}), {9, 10})})), "");
}

// Megatron's rule takes all shards from the groups of one rank, so another copy does not help there.
TEST(MegatronErrors, AMissingShardThatAnotherCopyHas) {
  const auto copy = [](Index first) { return tp_shards({first, first + 1}, {4}); };
  Records sources = {copy(0).front()};
  for (const Parameter& parameter : copy(2)) sources.push_back(parameter);
  EXPECT_EQ(refusal(rosters(sources, {whole(8, {8})})), "");
  EXPECT_THAT(refusal(rosters(sources, {whole(8, {8})}), {.rule = SourceRule::megatron}),
              HasSubstr("covered 4 of 8 elements of target rank 8 from ranks [0]; missing is place 1"));
}

TEST(MegatronErrors, NoSource) {
  EXPECT_EQ(refusal(rosters({whole(0, {4}, "a")}, {whole(7, {4}, "b")})),
            "tensor 'b': target rank 7 wants it (locally 'b') and no source rank holds it; check the numbers of layers "
            "and experts, or leave it out of the targets");
  // An output layer is tied to the embedding of its own component, not to another's.
  EXPECT_THAT(refusal(rosters({whole(0, {4}, "vision.embedding.word_embeddings.weight")},
                              {whole(7, {4}, "text.output_layer.weight")})),
              HasSubstr("no source rank holds it"));
  EXPECT_THAT(refusal(rosters({whole(0, {4}, "word_embeddings.weight")}, {whole(7, {4}, "my_output_layer.weight")})),
              HasSubstr("no source rank holds it"));
}

TEST(MegatronErrors, SourcesWithoutADestinationAreReported) {
  const ShardPlan plan =
      planned(rosters({whole(0, {4}, "z"), whole(0, {4}, "w"), whole(1, {4}, "a")}, {whole(7, {4}, "w")}));
  EXPECT_EQ(plan.unwanted, (std::vector<std::string>{"a", "z"}));
}

TEST(MegatronErrors, OneNameForDifferentTensors) {
  EXPECT_THAT(refusal(rosters({whole(0, {4}), whole(1, {5})}, {whole(7, {4})})),
              AllOf(HasSubstr("source ranks 0 and 1 hold different tensors of this name, f32 [4] and f32 [5]")));
  Parameter second = whole(0, {5});
  second.name = "other";
  EXPECT_THAT(refusal(rosters({whole(0, {4}), second}, {whole(7, {4})})),
              HasSubstr("source rank 0 holds two different tensors of this name, locally 'w' and 'other'"));
  EXPECT_THAT(refusal(rosters({whole(7, {4})}, {whole(0, {4}), second})),
              HasSubstr("target rank 0 holds two different"));
  // The same under two local names: a source sends one of them, a target gets both filled.
  second.shape = {4};
  EXPECT_EQ(std::ssize(planned(rosters({whole(0, {4}), second}, {whole(7, {4})})).operations), 1);
  EXPECT_EQ(std::ssize(planned(rosters({whole(7, {4})}, {whole(0, {4}), second})).operations), 2);
}

// Experts fused in one tensor say nothing about which expert is which row.
TEST(MegatronErrors, FusedExpertsWhoseNumberOfPartsChanges) {
  const auto fused = [](Index rank, const Ranks& ep, std::vector<Index> shape) {
    Parameter parameter = whole(rank, std::move(shape), "experts.weight");
    parameter.is_ep = true;
    parameter.num_experts = 4;
    parameter.ep_group = group(ep);
    return parameter;
  };
  const Records sources = {fused(0, {0, 1}, {2, 3}), fused(1, {0, 1}, {2, 3})};
  EXPECT_EQ(
      refusal(rosters(sources, {fused(4, {4}, {4, 3})})),
      "tensor 'experts.weight' holds experts fused in one tensor, in 2 parts on source rank 0 and 1 on target rank "
      "4; which expert is which row is not known: give each expert a tensor of its own (weight0, weight1, ..)");
  // The same number of parts: each part from its own.
  for (const SourceRule rule : {SourceRule::balanced, SourceRule::megatron}) {
    const ShardPlan plan =
        planned(rosters(sources, {fused(4, {4, 5}, {2, 3}), fused(5, {4, 5}, {2, 3})}), {.rule = rule});
    EXPECT_EQ(received(plan, 4), "(0,[0:2,0:3]->[0:2,0:3])");
    EXPECT_EQ(received(plan, 5), "(1,[0:2,0:3]->[0:2,0:3])");
    EXPECT_THAT(refusal(rosters({sources[0]}, {fused(5, {4, 5}, {2, 3})}), {.rule = rule}),
                AllOf(HasSubstr("rank 5"), HasSubstr("of the experts")));
  }
}

// An expert's shard without its flag would pass as the whole tensor.
TEST(MegatronErrors, AnExpertWithoutItsFlag) {
  Parameter shard = whole(0, {4}, "experts.weight0");
  shard.is_ep = true;
  shard.tp_group = group({0, 1});
  EXPECT_THAT(refusal(rosters({shard}, {whole(4, {4}, "experts.weight0")})),
              AllOf(HasSubstr("is_tp not set"), HasSubstr("[0,1]"), HasSubstr("set is_tp, or give no group")));
}

TEST(MegatronErrors, PackedPiecesThatDiffer) {
  const Records sources = tp_shards({0, 1}, {6}, {.sizes = {4, 2}});
  EXPECT_THAT(refusal(rosters(sources, tp_shards({4, 5}, {6}, {.sizes = {3, 3}}))),
              AllOf(HasSubstr("pieces [8,4] on rank 0 and [6,6] on rank 4"), HasSubstr("mixed packing: plain")));
  EXPECT_EQ(refusal(rosters(sources, tp_shards({4, 5}, {6}, {.sizes = {3, 3}})), {.mixed = MixedPacking::plain}), "");
  // Pieces that do not divide.
  EXPECT_THAT(refusal(rosters(sources, tp_shards({4, 5, 6}, {4})), {.mixed = MixedPacking::packed}),
              HasSubstr("a piece of 8 does not divide among the 3 ranks of the tensor parallel group of rank 4"));
}

// Where both readings are the same there is nothing to say.
TEST(MegatronErrors, PackedAndPlainThatAgree) {
  EXPECT_EQ(refusal(rosters(tp_shards({0, 1}, {4}, {.sizes = {2, 2}}), tp_shards({4, 5}, {4}, {.stride = 2}))), "");
  EXPECT_EQ(refusal(rosters(tp_shards({0, 1}, {4}, {.sizes = {4}}), tp_shards({4, 5}, {4}))), "");
  EXPECT_EQ(refusal(rosters(tp_shards({0, 1}, {4}, {.sizes = {3, 1}}), tp_shards({4}, {8}))), "");
  EXPECT_EQ(refusal(rosters(tp_shards({0, 1}, {4, 6}, {.sizes = {3, 1}}), tp_shards({4, 5}, {8, 3}, {.dim = 1}))), "");
  EXPECT_NE(refusal(rosters(tp_shards({0}, {8}, {.sizes = {6, 2}}), tp_shards({4, 5}, {4}))), "");
  EXPECT_NE(refusal(rosters(tp_shards({4, 5}, {4}), tp_shards({0, 1}, {4}, {.sizes = {3, 1}}))), "");
}

TEST(MegatronErrors, RecordsWithoutAResolvedName) {
  Parameter unnamed = whole(0, {4});
  unnamed.resolved_name.clear();
  EXPECT_THAT(refusal(rosters({unnamed}, {whole(1, {4})})), HasSubstr("no resolved name"));
}

TEST(MegatronErrors, GroupsThemselves) {
  EXPECT_THROW(group({0, 1, 0}), Error);
  EXPECT_THROW(group({-1}), Error);
  EXPECT_EQ(group({5, 2}).index_of(RankId(2)), 1);
  EXPECT_EQ(group({5, 2}).index_of(RankId(3)), std::nullopt);
  EXPECT_EQ(group({5, 2}).text(), "[5,2]");
  EXPECT_NE(group({5, 2}), group({2, 5}));
  EXPECT_EQ(RankGroup().size(), 0);
}

}  // namespace
}  // namespace reshard::megatron
