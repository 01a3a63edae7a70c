// How a whole model lies on a mesh: ordered rules from name patterns to layouts, written in YAML.
//
//   base: llama.yaml                        # optional: a file whose contents come first, see below
//   model: llama
//   axes: [pp, dp, tp]                      # axes that rules may name; one that the mesh lacks counts as size 1
//   mesh: trainer(dp=2, tp=2)               # may be replaced by the caller
//   form: ranks                             # ranks: one file per rank; files: whole tensors, as hubs publish
//   parameters: {heads: 32}                 # defaults, in order; a value may be an expression over earlier ones
//   config: {heads: num_attention_heads, head_dim: [head_dim, hidden_size / num_attention_heads]}
//   split: {tp: {kv: "divisor(tp, kv_heads)", rep: tp / kv}}
//   rules:
//     - match: model.layers.{layer}.self_attn.q_proj.weight
//       layout: "{0: kv:balanced/${heads / kv_heads * head_dim} rep:balanced/${head_dim},
//                 pp: at(${layer * pp / layers})}"
//   fuse:
//     - store: model.layers.{layer}.self_attn.qkv_proj.weight
//       dim: 0
//       parts: [model.layers.{layer}.self_attn.q_proj.weight, ...]     # or {name: ..., size: rows}
//
// Patterns: `{name}` is a whole number, `*` any run of characters without a dot, `**` any run. Of the rules that match,
// the one of greatest `priority` decides; at equal priority one without wildcards goes before one with. Two that match
// at one rank, and none, are errors.
// Over a `base`, rules and fuse rules are added to those of the base, named entries replace those of the same name, and
// anything else replaces what the base says.
// Expressions: whole numbers, + - * / (floor), parentheses, min, max, gcd, divisor(a, b) = the greatest divisor of a
// that is at most b; names are parameters, captures and mesh axes (their sizes). `config` gives parameters from the
// model's config.json: the first alternative whose keys exist; a dot reaches into an object ("text_config.head_dim").
//
// Thread rule: immutable.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reshard/layout.h"
#include "reshard/tensor_info.h"

namespace reshard {

enum class Form { ranks, files };

struct LayoutRule {
  std::string match = {};
  std::string layout = {};  // what follows the mesh in the text of a layout
  Index priority = 0;
  int line = 0;
  std::string source = {};
};

struct FusePart {
  std::string name;  // pattern with the captures of the rule's `store`
  std::string size;  // expression: extent along the rule's dimension; needed to split a tensor that comes fused
};

// Tensors stored as one: the local shards, one after another along `dim`.
struct FuseRule {
  std::string store = {};
  int dim = 0;
  std::vector<FusePart> parts = {};
  int line = 0;
  std::string source = {};
};

struct NamedExpression {
  std::string name;
  std::string expression;
};

// Sub-axes of a mesh axis, slowest first.
struct AxisSplit {
  std::string axis;
  std::vector<NamedExpression> parts;
};

struct ConfigValue {
  std::string name;
  std::vector<std::string> alternatives = {};  // expressions over keys of config.json
};

struct ModelRules {
  std::string source;  // file, for errors
  std::string base;    // as written, relative to the file
  std::string model;
  std::vector<std::string> axes;
  std::string mesh;          // text; empty = none
  std::optional<Form> form;  // none = ranks
  std::vector<NamedExpression> parameters;
  std::vector<ConfigValue> config;
  std::vector<AxisSplit> split;
  std::vector<LayoutRule> rules;  // none, in the form `files`: every tensor is whole
  std::vector<FuseRule> fuse;
};

// Throws Error(invalid_argument) that names source, line and key; an unknown key is answered with the nearest one.
// Does not open a base: `base` names it.
ModelRules model_rules(std::string_view yaml, std::string_view source);
// With everything its base says.
ModelRules load_model_rules(const std::string& path);

// A logical tensor and where it is stored; the numbers are places in the lists of its ModelLayout.
struct ModelTensor {
  TensorInfo tensor;
  int layout = 0;
  int stored = 0;
  int part = 0;
};

// What a file holds under one name: one logical tensor, or several one after another along `dim`.
struct StoredTensor {
  std::string name;
  int dim = 0;
  std::vector<int> parts = {};  // places in tensors()
};

class ModelLayout {
 public:
  // Checks that names are unique, all layouts lie on `mesh` in plain row-major storage, and parts fit each other.
  // Throws Error(invalid_argument) with all problems. `layout`, `part` and `stored` of tensors and `parts` must agree.
  ModelLayout(Form form, Mesh mesh, std::vector<Layout> layouts, std::vector<ModelTensor> tensors,
              std::vector<StoredTensor> stored);

  Form form() const { return form_; }
  const Mesh& mesh() const { return mesh_; }
  const std::vector<ModelTensor>& tensors() const { return tensors_; }
  const std::vector<StoredTensor>& stored() const { return stored_; }
  // Distinct ones: tensors of one class share a place.
  const std::vector<Layout>& layouts() const { return layouts_; }
  const Layout& layout(const ModelTensor& tensor) const { return layouts_[static_cast<std::size_t>(tensor.layout)]; }
  // Nothing for an unknown name; O(log tensors).
  const ModelTensor* find(std::string_view name) const;

  // False for a rank outside the mesh and for one that an `at` axis leaves out; an empty shard is held.
  bool holds(const StoredTensor& stored, RankId rank) const;
  // Extents of the rank's stored tensor, padding included. Precondition of these two: holds(stored, rank).
  std::vector<Index> local_shape(const StoredTensor& stored, RankId rank) const;
  // Where part number `part` of the stored tensor lies in the rank's buffer, in elements.
  LocalStorage part_storage(const StoredTensor& stored, int part, RankId rank) const;
  // What the rank's file holds, in the order of stored().
  std::vector<TensorInfo> stored_on(RankId rank) const;

 private:
  const ModelTensor& tensor_at(int place) const { return tensors_[static_cast<std::size_t>(place)]; }

  Form form_;
  Mesh mesh_;
  std::vector<Layout> layouts_;
  std::vector<ModelTensor> tensors_;
  std::vector<StoredTensor> stored_;
  std::vector<int> by_name_;  // places in tensors_, sorted by name
};

struct ResolveSettings {
  std::optional<Mesh> mesh;                 // instead of the rules' mesh
  std::optional<Form> form;                 // instead of the rules' form
  std::string config;                       // text of config.json; empty = none
  std::map<std::string, Index> parameters;  // before config and defaults
};

// Layouts of `tensors` (whole; a fused one is taken apart by the fuse rules). Throws Error(invalid_argument) that
// lists the first ten problems of all tensors.
ModelLayout resolve(const ModelRules& rules, std::span<const TensorInfo> tensors, const ResolveSettings& settings = {});
// Every tensor whole, on one rank, under its own name.
ModelLayout whole_tensors(std::span<const TensorInfo> tensors);

}  // namespace reshard
