// YAML to ModelRules: syntax only. What the rules mean for a mesh and tensors is checked by resolve().
#include <algorithm>
#include <filesystem>

#include "base/fail.h"
#include "format/text_file.h"
#include "format/yaml_reader.h"
#include "reshard/model.h"

namespace reshard {

namespace {

constexpr Index kMaxRulesBytes = 1 << 20;
constexpr int kMaxBases = 8;

class RulesReader {
 public:
  explicit RulesReader(std::string_view source) : yaml_(source) { rules_.source = source; }

  ModelRules read(std::string_view text) {
    const YAML::Node root = yaml_.parse(text);
    yaml_.mapping(root, "a model file",
                  {"base", "model", "axes", "mesh", "form", "parameters", "config", "split", "rules", "fuse"},
                  [this](const std::string& key, const YAML::Node& value) { member(key, value); });
    if (rules_.rules.empty() && rules_.base.empty() && rules_.form != Form::files) {
      yaml_.fault(root, "a model file of the form 'ranks' needs rules");
    }
    return std::move(rules_);
  }

 private:
  void member(const std::string& key, const YAML::Node& value) {
    if (key == "base") rules_.base = yaml_.scalar(value, key);
    if (key == "model") rules_.model = yaml_.scalar(value, key);
    if (key == "mesh") rules_.mesh = yaml_.scalar(value, key);
    if (key == "axes") rules_.axes = texts(value, key);
    if (key == "form") read_form(value);
    if (key == "parameters") rules_.parameters = expressions(value, key);
    if (key == "config") read_config(value);
    if (key == "split") read_split(value);
    if (key == "rules") yaml_.sequence(value, key, [this](const YAML::Node& rule) { read_rule(rule); });
    if (key == "fuse") yaml_.sequence(value, key, [this](const YAML::Node& rule) { read_fuse(rule); });
  }

  std::vector<std::string> texts(const YAML::Node& node, std::string_view what) const {
    std::vector<std::string> out;
    yaml_.sequence(node, what, [&](const YAML::Node& item) { out.push_back(yaml_.scalar(item, what)); });
    return out;
  }

  std::vector<NamedExpression> expressions(const YAML::Node& node, std::string_view what) const {
    std::vector<NamedExpression> out;
    yaml_.mapping(node, what, {}, [&](const std::string& name, const YAML::Node& value) {
      out.push_back({name, yaml_.scalar(value, name)});
    });
    return out;
  }

  void read_form(const YAML::Node& node) {
    const std::string form = yaml_.scalar(node, "form");
    if (form != "ranks" && form != "files") {
      yaml_.fault(node,
                  fmt::format("form is '{}'; it is 'ranks' (one file per rank) or 'files' (whole tensors)", form));
    }
    rules_.form = form == "ranks" ? Form::ranks : Form::files;
  }

  void read_config(const YAML::Node& node) {
    yaml_.mapping(node, "config", {}, [this](const std::string& name, const YAML::Node& value) {
      ConfigValue config{.name = name};
      config.alternatives =
          value.IsSequence() ? texts(value, name) : std::vector<std::string>{yaml_.scalar(value, name)};
      rules_.config.push_back(std::move(config));
    });
  }

  void read_split(const YAML::Node& node) {
    yaml_.mapping(node, "split", {}, [this](const std::string& axis, const YAML::Node& parts) {
      rules_.split.push_back({axis, expressions(parts, "the sub-axes of " + axis)});
    });
  }

  void read_rule(const YAML::Node& node) {
    LayoutRule rule{.line = yaml_.line(node), .source = rules_.source};
    yaml_.mapping(node, "a rule", {"match", "layout", "priority"},
                  [&](const std::string& key, const YAML::Node& value) {
                    if (key == "match") rule.match = yaml_.scalar(value, key);
                    if (key == "layout") rule.layout = yaml_.scalar(value, key);
                    if (key == "priority") rule.priority = yaml_.integer(value, key);
                  });
    if (rule.match.empty()) yaml_.fault(node, "a rule needs 'match'");
    if (rule.layout.empty()) yaml_.fault(node, "a rule needs 'layout'; \"{}\" replicates");
    rules_.rules.push_back(std::move(rule));
  }

  void read_fuse(const YAML::Node& node) {
    FuseRule rule{.line = yaml_.line(node), .source = rules_.source};
    yaml_.mapping(node, "a fuse rule", {"store", "dim", "parts"}, [&](const std::string& key, const YAML::Node& value) {
      if (key == "store") rule.store = yaml_.scalar(value, key);
      if (key == "dim") rule.dim = static_cast<int>(std::clamp<Index>(yaml_.integer(value, key), -1, 1 << 20));
      if (key == "parts")
        yaml_.sequence(value, key, [&](const YAML::Node& part) { rule.parts.push_back(read_part(part)); });
    });
    if (rule.store.empty()) yaml_.fault(node, "a fuse rule needs 'store', the name of the fused tensor");
    if (rule.parts.empty()) yaml_.fault(node, "a fuse rule needs 'parts', a list of names");
    if (rule.dim < 0) yaml_.fault(node, "dim counts from 0");
    rules_.fuse.push_back(std::move(rule));
  }

  FusePart read_part(const YAML::Node& node) const {
    if (node.IsScalar()) return {node.Scalar(), ""};
    FusePart part;
    yaml_.mapping(node, "a part", {"name", "size"}, [&](const std::string& key, const YAML::Node& value) {
      (key == "name" ? part.name : part.size) = yaml_.scalar(value, key);
    });
    if (part.name.empty()) yaml_.fault(node, "a part needs 'name'");
    return part;
  }

  YamlReader yaml_;
  ModelRules rules_;
};

// Entries of `above` replace those of one name and follow the others.
template <class Entries, class Key>
void merge_named(Entries& base, Entries above, const Key& key) {
  for (auto& entry : above) {
    const auto same = std::find_if(base.begin(), base.end(), [&](const auto& e) { return key(e) == key(entry); });
    if (same == base.end()) {
      base.push_back(std::move(entry));
    } else {
      *same = std::move(entry);
    }
  }
}

ModelRules over_base(ModelRules base, ModelRules above) {
  base.source = std::move(above.source);
  base.base.clear();
  if (above.form) base.form = above.form;
  for (auto text : {&ModelRules::model, &ModelRules::mesh}) {
    if (!(above.*text).empty()) base.*text = std::move(above.*text);
  }
  if (!above.axes.empty()) base.axes = std::move(above.axes);
  const auto name = [](const auto& entry) { return entry.name; };
  merge_named(base.parameters, std::move(above.parameters), name);
  merge_named(base.config, std::move(above.config), name);
  merge_named(base.split, std::move(above.split), [](const AxisSplit& split) { return split.axis; });
  base.rules.insert(base.rules.end(), above.rules.begin(), above.rules.end());
  base.fuse.insert(base.fuse.end(), above.fuse.begin(), above.fuse.end());
  return base;
}

ModelRules load(const std::string& path, int depth) {
  ModelRules rules = model_rules(read_text_file(path, kMaxRulesBytes), path);
  if (rules.base.empty()) return rules;
  if (depth == kMaxBases)
    fail(Code::invalid_argument, "{}: more than {} files stand on each other by 'base'", path, kMaxBases);
  const std::string base = (std::filesystem::path(path).parent_path() / rules.base).string();
  return over_base(load(base, depth + 1), std::move(rules));
}

}  // namespace

ModelRules model_rules(std::string_view yaml, std::string_view source) {
  if (static_cast<Index>(yaml.size()) > kMaxRulesBytes) {
    fail(Code::invalid_argument, "{}: a model file may have {} bytes, this has {}", source, kMaxRulesBytes,
         yaml.size());
  }
  try {
    return RulesReader(source).read(yaml);
  } catch (const YAML::Exception& error) {
    fail(Code::invalid_argument, "{}:{}: {}", source, error.mark.line + 1, error.msg);
  }
}

ModelRules load_model_rules(const std::string& path) { return load(path, 0); }

}  // namespace reshard
