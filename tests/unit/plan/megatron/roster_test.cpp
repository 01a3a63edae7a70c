// Names of the whole model, rosters as JSON, and tensors of rosters as layouts and back.
#include <gmock/gmock.h>

#include "golden/megatron_records.h"

namespace reshard::megatron {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Parameter unnamed(Index rank, const std::string& name) {
  Parameter parameter = whole(rank, {4}, name);
  parameter.resolved_name.clear();
  return parameter;
}

Parameter expert(Index rank, const std::string& name, const Ranks& ep, Index experts) {
  Parameter parameter = unnamed(rank, name);
  parameter.is_ep = true;
  parameter.num_experts = experts;
  parameter.ep_group = group(ep);
  return parameter;
}

std::string resolved(const Parameter& parameter, const std::vector<NumberedModule>& modules = {},
                     const std::vector<Component>& components = {}) {
  try {
    return with_names({{parameter}, modules, components}).parameters.front().resolved_name;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(MegatronNames, LayersTakeTheirNumberInTheModel) {
  const std::vector<NumberedModule> modules = {{RankId(1), "decoder.layers.0", 17},
                                               {RankId(1), "decoder.layers.1", 18}};
  EXPECT_EQ(resolved(unnamed(1, "decoder.layers.0.mlp.weight"), modules), "decoder.layers.16.mlp.weight");
  EXPECT_EQ(resolved(unnamed(1, "decoder.layers.1"), modules), "decoder.layers.17");
  EXPECT_EQ(resolved(unnamed(1, "decoder.layers.10.weight"), modules), "decoder.layers.10.weight");
  EXPECT_EQ(resolved(unnamed(0, "decoder.layers.0.mlp.weight"), modules), "decoder.layers.0.mlp.weight");
  // A numbered module within another: both are renumbered.
  EXPECT_EQ(resolved(unnamed(1, "decoder.layers.0.heads.0.weight"),
                     {{RankId(1), "decoder.layers.0", 9}, {RankId(1), "decoder.layers.0.heads.0", 3}}),
            "decoder.layers.8.heads.2.weight");
  // A name that is given stays.
  EXPECT_EQ(resolved(whole(1, {4}, "decoder.layers.0.mlp.weight"), modules), "decoder.layers.0.mlp.weight");
}

TEST(MegatronNames, ModulesThatAreNoLayers) {
  EXPECT_THAT(resolved(unnamed(1, "a"), {{RankId(1), "decoder.final", 3}}), HasSubstr("does not end in a number"));
  EXPECT_THAT(resolved(unnamed(1, "a"), {{RankId(1), "layers.0", 0}}), HasSubstr("layers count from 1"));
  EXPECT_THAT(resolved(unnamed(1, "a"), {{RankId(1), "layers.0", 1}, {RankId(1), "layers.0", 2}}),
              HasSubstr("is layer 1 and layer 2"));
}

TEST(MegatronNames, ExpertsTakeTheirNumberInTheModel) {
  EXPECT_EQ(resolved(expert(3, "mlp.experts.linear_fc1.weight1", {2, 3}, 4)), "mlp.experts.linear_fc1.weight3");
  EXPECT_EQ(resolved(expert(3, "mlp.experts.linear_fc1.bias0", {2, 3}, 4)), "mlp.experts.linear_fc1.bias2");
  EXPECT_EQ(resolved(expert(2, "mlp.experts.local_experts.1.weight", {3, 2}, 4)), "mlp.experts.local_experts.3.weight");
  EXPECT_EQ(resolved(expert(2, "mlp.experts.weight", {2, 3}, 4)), "mlp.experts.weight");  // fused
  EXPECT_EQ(resolved(unnamed(3, "lora.weight1")), "lora.weight1");                        // no expert
}

TEST(MegatronNames, ExpertsThatDoNotFit) {
  EXPECT_THAT(resolved(expert(3, "weight0", {2, 3}, 5)), HasSubstr("5 experts are not divisible by the 2 ranks"));
  EXPECT_THAT(resolved(expert(3, "weight2", {2, 3}, 4)),
              HasSubstr("local expert 2 of 4 experts in 2 parts; a part has 2"));
  EXPECT_THAT(resolved(expert(1, "weight0", {2, 3}, 4)),
              HasSubstr("rank 1 is not in its own expert parallel group [2,3]"));
  Parameter parameter = expert(3, "weight0", {2, 3}, 4);
  parameter.global_expert = 2;
  EXPECT_EQ(resolved(parameter), "weight2");
  parameter.global_expert = 1;
  EXPECT_THAT(resolved(parameter), HasSubstr("its record says expert 1, its name and group [2,3] say 2"));
}

TEST(MegatronNames, ComponentsOfACompositeModel) {
  const std::vector<Component> parts = {{"text", "language_model"}, {"image", "vision.model"}};
  EXPECT_EQ(resolved(unnamed(0, "language_model.output_layer.weight"), {}, parts), "text.output_layer.weight");
  EXPECT_EQ(resolved(unnamed(0, "vision.model.layers.0.w"), {{RankId(0), "vision.model.layers.0", 5}}, parts),
            "image.layers.4.w");
  EXPECT_EQ(resolved(unnamed(0, "w"), {}, {{"all", ""}}), "all.w");
  EXPECT_THAT(resolved(unnamed(0, "language_model2.w"), {}, parts), HasSubstr("lies in no component"));
  EXPECT_THAT(resolved(unnamed(0, "a.b.w"), {}, {{"x", "a"}, {"y", "a.b"}}), HasSubstr("two components, 'x' and 'y'"));
  EXPECT_THAT(resolved(unnamed(0, "a.w"), {}, {{"x", "a"}, {"x", "b"}}), HasSubstr("two components are labelled 'x'"));
  EXPECT_THAT(resolved(unnamed(0, "a.w"), {}, {{"", "a"}}), HasSubstr("has no label"));
}

// --- JSON ---

constexpr std::string_view kFile = R"({
  "groups": {"tp": [0, 1]},
  "sources": {
    "layers": {"1": {"decoder.layers.0": 2}},
    "parameters": [
      {"name": "w", "owner_rank": 0, "shape": [4, 2], "dtype": "torch.bfloat16", "element_size": 2, "is_tp": true,
       "partition_dim": 0, "partition_stride": 2, "partition_sizes": null, "tensor_parallel_group_ranks": "tp"},
      {"name": "w", "owner_rank": 1, "shape": [4, 2], "dtype": "bf16", "is_tp": true, "partition_stride": 2,
       "tensor_parallel_group_ranks": [0, 1]}]
  },
  "targets": {
    "rank_offset": 100,
    "components": [{"label": "text", "path": ""}],
    "parameters": [{"name": "w", "resolved_name": "w", "owner_rank": 3, "shape": [8, 2], "dtype": "bf16", "is_gtp": true,
                    "gtp_pad_length": 1, "gtp_remat_group_ranks": [3], "is_ep": true, "num_experts": 8,
                    "global_expert_index": 7, "expert_parallel_group_ranks": [], "pipeline_parallel_group_ranks": [3],
                    "data_parallel_group_ranks": [3, 4]}]
  }
})";

TEST(MegatronJson, ReadsAllFields) {
  const Rosters both = rosters_from_json(kFile);
  ASSERT_EQ(both.sources.parameters.size(), 2u);
  EXPECT_EQ(both.sources.modules, (std::vector<NumberedModule>{{RankId(1), "decoder.layers.0", 2}}));
  const Parameter& source = both.sources.parameters[0];
  EXPECT_EQ(source.dtype, Dtype::bf16);
  EXPECT_EQ(source.partition_stride, 2);
  EXPECT_EQ(source.tp_group, group({0, 1}));
  // Equal lists are one, whether by name or not.
  EXPECT_EQ(&source.tp_group.ranks(), &both.sources.parameters[1].tp_group.ranks());
  const Parameter& target = both.targets.parameters[0];
  EXPECT_EQ(target.owner, RankId(103));
  EXPECT_EQ(target.gtp_group, group({103}));
  EXPECT_EQ(target.dp_group, group({103, 104}));
  EXPECT_EQ(target.gtp_pad, 1);
  EXPECT_EQ(target.num_experts, 8);
  EXPECT_EQ(target.global_expert, 7);
  EXPECT_FALSE(target.ep_group.given());
  EXPECT_EQ(both.targets.components, (std::vector<Component>{{"text", ""}}));
}

TEST(MegatronJson, WritesWhatItReads) {
  const Rosters both = rosters_from_json(kFile);
  const std::string text = rosters_json(both);
  EXPECT_EQ(rosters_from_json(text), both);
  EXPECT_EQ(rosters_json(rosters_from_json(text)), text);
}

std::string refused(std::string text, std::string_view from, std::string_view to) {
  text.replace(text.find(from), from.size(), to);
  try {
    rosters_from_json(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::corrupt);
    return error.what();
  }
  return "";
}

TEST(MegatronJson, RefusalsNameSideRecordAndField) {
  const auto with = [](std::string_view from, std::string_view to) { return refused(std::string(kFile), from, to); };
  EXPECT_EQ(with("\"element_size\": 2", "\"element_size\": 4"),
            "sources: parameter 0, 'w': \"element_size\" is 4, and bf16 has 2 bytes");
  EXPECT_EQ(with("\"partition_stride\"", "\"partition_strid\""),
            "sources: parameter 0, 'w': there is no field \"partition_strid\"");
  EXPECT_THAT(with("torch.bfloat16", "bfloat"), HasSubstr("\"dtype\" is \"bfloat\""));
  EXPECT_THAT(with("_ranks\": \"tp\"", "_ranks\": \"dp\""), HasSubstr("\"groups\" has no such list"));
  EXPECT_THAT(with("[4, 2]", "[4, 2.5]"), HasSubstr("\"shape\" is 2.5, not a 64-bit integer"));
  EXPECT_THAT(with("[4, 2]", "[4, 18446744073709551615]"), HasSubstr("not a 64-bit integer"));
  EXPECT_THAT(with("\"is_tp\": true", "\"is_tp\": 1"), HasSubstr("not true or false"));
  EXPECT_THAT(with("\"owner_rank\": 0", "\"owner_rank\": -1"), HasSubstr("-1 is no rank"));
  EXPECT_THAT(with("\"rank_offset\": 100", "\"rank_offset\": -1"),
              HasSubstr("targets: \"rank_offset\" -1 is negative"));
  EXPECT_THAT(with("\"tp\": [0, 1]", "\"tp\": [0, 0]"), HasSubstr("rank 0 is listed twice"));
  EXPECT_THAT(with("\"1\": {\"dec", "\"one\": {\"dec"), HasSubstr("\"one\" is no rank"));
  EXPECT_THAT(with("\"targets\"", "\"target\""), HasSubstr("no field \"target\""));
  EXPECT_THAT(with("\"name\": \"w\"", "\"named\": \"w\""), HasSubstr("parameter 0: \"name\" is missing"));
  EXPECT_THAT(with("{", ""), HasSubstr("no JSON"));
}

// --- layouts ---

TEST(MegatronLayouts, ATensorAsALayout) {
  const auto text = [](const Records& records) { return layout_of({records, {}, {}}, "w").text(); };
  EXPECT_EQ(text({whole(9, {8, 2})}), layout("f32[8,2] on ()@9").text());
  EXPECT_EQ(text(tp_shards({0, 1}, {4, 6}, {.dim = 1, .stride = 3})),
            layout("f32[4,12] on (tp=2) {1: tp:strided(3)}").text());
  EXPECT_EQ(text(tp_shards({1, 0}, {12}, {.sizes = {8, 2, 2}})),
            layout("f32[24] on (tp=2)@[1,0] {0: tp:packed[8,2,2]}").text());
  EXPECT_EQ(text(tp2_gtp2({3, 2}, 2)), layout("f32[8,2] on (gtp=2, tp=2) {0: tp:even gtp:window(2)}").text());
  Records copies = tp_shards({4, 5}, {3});
  for (const Parameter& parameter : tp_shards({2, 3}, {3})) copies.push_back(parameter);
  EXPECT_EQ(text(copies), layout("f32[6] on (dp=2, tp=2)@2 {0: tp:even}").text());
}

TEST(MegatronLayouts, WhatHasNoLayout) {
  const auto reason = [](const Records& records) -> std::string {
    try {
      layout_of({records, {}, {}}, "w");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Records records = tp2_gtp2({3, 2}, 2);
  records.pop_back();
  EXPECT_THAT(reason(records), HasSubstr("copy 0 has no rank at place 1 of tensor parallel and 1 of GTP"));
  records = tp_shards({0, 1}, {4});
  records.push_back(whole(2, {8}));
  EXPECT_THAT(reason(records), HasSubstr("cut differently: the stored shape is [4] on rank 0 and [8] on rank 2"));
  Parameter fused = whole(0, {4});
  fused.is_ep = true;
  fused.ep_group = group({0, 1});
  EXPECT_THAT(reason({fused}), HasSubstr("experts fused in one tensor, and 2 parts"));
  EXPECT_THAT(reason({}), HasSubstr("not in the roster"));
}

std::string records_refused(const char* text) {
  try {
    parameters_of(layout(text), "w");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported);
    return error.what();
  }
  return "";
}

TEST(MegatronLayouts, ALayoutAsRecords) {
  // Chunks that divide are even; the second cut of dimension 0 is GTP's; replicated axes are data parallel.
  const Records records = parameters_of(layout("bf16[16,4] on (dp=2, g=2, tp=2)@8 {0: tp g}"), "w");
  ASSERT_EQ(records.size(), 8u);
  EXPECT_EQ(records[1].owner, RankId(9));
  EXPECT_EQ(records[1].shape, (std::vector<Index>{4, 4}));
  EXPECT_EQ(records[1].tp_group, group({8, 9}));
  EXPECT_EQ(records[1].gtp_group, group({9, 11}));
  EXPECT_EQ(records[1].dp_group, group({9, 13}));
  EXPECT_EQ(records[1].gtp_pad, 0);
  EXPECT_EQ(parameters_of(layout("f32[24] on (tp=2) {0: tp:parts[16,4,4]}"), "w")[0].partition_sizes,
            (std::vector<Index>{8, 2, 2}));
  EXPECT_EQ(parameters_of(layout("f32[16] on (pp=4, tp=2) {0: tp, pp: at(2)}"), "w").size(), 2u);
  EXPECT_EQ(parameters_of(layout("f32[8] on (a=2, b=2) {0: (a b)}"), "w")[3].tp_group, group({0, 1, 2, 3}));
}

TEST(MegatronLayouts, WhatHasNoRecords) {
  EXPECT_THAT(records_refused("f32[5] on (a=2) {0: a}"), HasSubstr("5 elements in 2 parts that are not equal"));
  EXPECT_THAT(records_refused("f32[8,8] on (a=2, b=2) {0: a, 1: b}"), HasSubstr("partition_dim is one"));
  EXPECT_THAT(records_refused("f32[8,8] on (a=2, b=2) {1: a b}"), HasSubstr("GTP cuts dimension 0"));
  EXPECT_THAT(records_refused("f32[8] on (a=2, b=2, c=2) {0: a b c}"), HasSubstr("3 cuts of dimension 0"));
  EXPECT_THAT(records_refused("f32[8] on (a=2) {0: a:cyclic(2)}"), HasSubstr("not equal and contiguous"));
  EXPECT_THAT(records_refused("f32[8] on (a=2) {0: a:strided-shard(2)}"), HasSubstr("strided shard"));
  EXPECT_THAT(records_refused("f32[8] on (a=2) {a: partial(sum)}"), HasSubstr("pending reduction"));
  EXPECT_THAT(records_refused("f32[8][0:4] on (a=2) {0: a}"), HasSubstr("view"));
}

}  // namespace
}  // namespace reshard::megatron
