#include "models.h"

#include <fmt/ranges.h>

#include "reshard/checkpoint_output.h"

namespace reshard::test {
namespace {

SmallModel with_bytes(std::vector<TensorInfo> tensors, std::string config = "") {
  SmallModel model{.tensors = std::move(tensors), .config = std::move(config)};
  for (const TensorInfo& tensor : model.tensors) model.bytes[tensor.name] = stamped(tensor);
  return model;
}

constexpr Index kHidden = 24, kHeads = 6, kKvHeads = 2, kHeadDim = 4, kVocabulary = 37, kInner = 29;
constexpr int kLayers = 3, kExperts = 5;

void add_attention(std::vector<TensorInfo>& tensors, const std::string& layer) {
  tensors.push_back({layer + "input_layernorm.weight", Dtype::f32, {kHidden}});
  tensors.push_back({layer + "self_attn.q_proj.weight", Dtype::bf16, {kHeads * kHeadDim, kHidden}});
  tensors.push_back({layer + "self_attn.k_proj.weight", Dtype::bf16, {kKvHeads * kHeadDim, kHidden}});
  tensors.push_back({layer + "self_attn.v_proj.weight", Dtype::bf16, {kKvHeads * kHeadDim, kHidden}});
  tensors.push_back({layer + "self_attn.o_proj.weight", Dtype::bf16, {kHidden, kHeads * kHeadDim}});
  tensors.push_back({layer + "post_attention_layernorm.weight", Dtype::f32, {kHidden}});
}

std::string config_text() {
  return fmt::format(R"({{"num_attention_heads":{},"num_key_value_heads":{},"hidden_size":{},"num_hidden_layers":{},)"
                     R"("num_local_experts":{}}})",
                     kHeads, kKvHeads, kHidden, kLayers, kExperts);
}

std::string layer_name(int layer) { return fmt::format("model.layers.{}.", layer); }

}  // namespace

SmallModel small_llama() {
  std::vector<TensorInfo> tensors{{"model.embed_tokens.weight", Dtype::bf16, {kVocabulary, kHidden}}};
  for (int k = 0; k < kLayers; ++k) {
    const std::string layer = layer_name(k);
    add_attention(tensors, layer);
    tensors.push_back({layer + "mlp.gate_proj.weight", Dtype::bf16, {kInner, kHidden}});
    tensors.push_back({layer + "mlp.up_proj.weight", Dtype::bf16, {kInner, kHidden}});
    tensors.push_back({layer + "mlp.down_proj.weight", Dtype::bf16, {kHidden, kInner}});
  }
  tensors.push_back({"model.norm.weight", Dtype::f32, {kHidden}});
  return with_bytes(std::move(tensors), config_text());
}

SmallModel small_mixtral() {
  std::vector<TensorInfo> tensors{{"model.embed_tokens.weight", Dtype::bf16, {kVocabulary, kHidden}}};
  for (int k = 0; k < kLayers; ++k) {
    const std::string layer = layer_name(k), moe = layer + "block_sparse_moe.";
    add_attention(tensors, layer);
    tensors.push_back({moe + "gate.weight", Dtype::f32, {kExperts, kHidden}});
    for (int e = 0; e < kExperts; ++e) {
      const std::string expert = fmt::format("{}experts.{}.", moe, e);
      tensors.push_back({expert + "w1.weight", Dtype::f16, {kInner, kHidden}});
      tensors.push_back({expert + "w2.weight", Dtype::f16, {kHidden, kInner}});
      tensors.push_back({expert + "w3.weight", Dtype::f16, {kInner, kHidden}});
    }
  }
  tensors.push_back({"model.norm.weight", Dtype::f32, {kHidden}});
  tensors.push_back({"lm_head.weight", Dtype::bf16, {kVocabulary, kHidden}});
  return with_bytes(std::move(tensors), config_text());
}

SmallModel odd_shapes() {
  std::vector<TensorInfo> tensors;
  for (const Dtype dtype : all_dtypes())
    if (dtype != Dtype::complex128) tensors.push_back({fmt::format("of.{}", name_of(dtype)), dtype, {5, 3}});
  tensors.push_back({"scalar", Dtype::i64, {}});
  tensors.push_back({"empty.rows", Dtype::f32, {0, 4}});
  tensors.push_back({"empty.columns", Dtype::f32, {3, 0}});
  tensors.push_back({"one", Dtype::u8, {1}});
  tensors.push_back({"two", Dtype::f64, {2, 7}});
  tensors.push_back({"cube", Dtype::i16, {3, 4, 5}});
  tensors.push_back({"wide", Dtype::f32, {7, 9001}});
  return with_bytes(std::move(tensors));
}

SmallModel many_tensors(int count) {
  std::vector<TensorInfo> tensors;
  for (int k = 0; k < count; ++k) tensors.push_back({fmt::format("t.{}", k), Dtype::f32, {17 + k, 31}});
  return with_bytes(std::move(tensors));
}

void write_published(const std::string& folder, const SmallModel& model, Index max_file_bytes) {
  const CheckpointOutput output =
      checkpoint_output(whole_tensors(model.tensors), std::nullopt, {.max_file_bytes = max_file_bytes});
  std::filesystem::create_directories(folder);
  for (const OutputFile& file : output.files()) write_stamped(folder + "/" + file.name, file.header);
  for (const OutputText& text : output.texts()) write_file(folder + "/" + text.name, text.text);
  if (!model.config.empty()) write_file(folder + "/config.json", model.config);
}

ModelRules shipped_rules(std::string_view file) { return load_model_rules(fmt::format("{}/{}", RESHARD_MODELS, file)); }

ModelRules listed_rules(std::string_view mesh_text, const std::map<std::string, std::string>& layouts) {
  std::vector<std::string> axes;
  const Mesh ranks = mesh(mesh_text);
  for (const Axis& axis : ranks.axes()) axes.push_back(axis.name);
  std::string yaml = fmt::format("model: listed\naxes: [{}]\nmesh: \"{}\"\nrules:\n", fmt::join(axes, ", "), mesh_text);
  for (const auto& [name, layout] : layouts)
    yaml += fmt::format("  - {{match: \"{}\", layout: \"{}\", priority: {}}}\n", name == "*" ? "**" : name, layout,
                        name == "*" ? 0 : 1);
  return model_rules(yaml, "listed.yaml");
}

std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = read_file(entry.path().string());
  return files;
}

void expect_equal_folders(const std::string& expected, const std::string& found) {
  const auto a = contents(expected), b = contents(found);
  for (const auto& [name, bytes] : a) {
    ASSERT_TRUE(b.contains(name)) << name << " is missing in " << found;
    const auto [at, other] = std::mismatch(bytes.begin(), bytes.end(), b.at(name).begin(), b.at(name).end());
    EXPECT_EQ(bytes.size(), b.at(name).size()) << name;
    EXPECT_TRUE(at == bytes.end()) << name << " differs at byte " << at - bytes.begin();
  }
  for (const auto& [name, bytes] : b) EXPECT_TRUE(a.contains(name)) << name << " should not be in " << found;
}

}  // namespace reshard::test
