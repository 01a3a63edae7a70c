// YAML to ModelRules: syntax only. What the rules mean for a mesh and tensors is checked by resolve().
#include <algorithm>

#include "base/fail.h"
#include "format/text_file.h"
#include "format/yaml_reader.h"
#include "reshard/model.h"

namespace reshard {

namespace {

constexpr Index kMaxRulesBytes = 1 << 20;

class RulesReader {
 public:
  explicit RulesReader(std::string_view source) : yaml_(source) { rules_.source = source; }

  ModelRules read(std::string_view text) {
    const YAML::Node root = yaml_.parse(text);
    yaml_.mapping(root, "a model file",
                  {"model", "axes", "mesh", "form", "parameters", "config", "split", "rules", "fuse"},
                  [this](const std::string& key, const YAML::Node& value) { member(key, value); });
    if (rules_.rules.empty() && rules_.form == Form::ranks) {
      yaml_.fault(root, "a model file of the form 'ranks' needs rules");
    }
    return std::move(rules_);
  }

 private:
  void member(const std::string& key, const YAML::Node& value) {
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
    LayoutRule rule{.line = yaml_.line(node)};
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
    FuseRule rule{.line = yaml_.line(node)};
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

ModelRules load_model_rules(const std::string& path) { return model_rules(read_text_file(path, kMaxRulesBytes), path); }

}  // namespace reshard
