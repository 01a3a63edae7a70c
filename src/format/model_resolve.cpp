#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/fail.h"
#include "format/fuse.h"
#include "format/model_mesh.h"
#include "format/nearest.h"
#include "format/pattern.h"
#include "format/problems.h"
#include "reshard/model.h"

namespace reshard {

namespace {

struct CompiledRule {
  const LayoutRule* rule;
  Pattern pattern;
};

struct Match {
  const CompiledRule* rule = nullptr;
  Captures captures;
};

// With # for each number and each {name}, so that names and patterns compare by their words.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit && out.ends_with('#')) continue;
    out += digit || text[i] == '{' ? '#' : text[i];
    if (text[i] == '{') i = std::min(text.find('}', i), text.size());
  }
  return out;
}

class Resolver {
 public:
  Resolver(const ModelRules& rules, const ResolveSettings& settings)
      : rules_(rules),
        parameters_(parameter_values(rules, settings)),
        mesh_(model_mesh(rules, settings, parameters_)),
        form_(form_of(rules, settings)) {
    if (rules.rules.empty() && form_ == Form::ranks) {
      fail(Code::invalid_argument, "{}: no rules, so no layouts for one file per rank", rules.source);
    }
    for (const LayoutRule& rule : rules.rules) compiled_.push_back({&rule, Pattern(rule.match)});
    std::stable_sort(compiled_.begin(), compiled_.end(), [](const CompiledRule& a, const CompiledRule& b) {
      return a.rule->priority != b.rule->priority ? a.rule->priority > b.rule->priority
                                                  : a.pattern.has_wildcard() < b.pattern.has_wildcard();
    });
  }

  ModelLayout resolve(std::span<const TensorInfo> given) {
    const FuseRules fuse(rules_.fuse,
                         [this](std::string_view name, const Captures& captures) { return look_up(name, captures); });
    std::vector<ModelTensor> tensors;
    for (TensorInfo& tensor : fuse.take_apart(given, problems_)) add(std::move(tensor), tensors);
    problems_.raise(rules_.source + ": the rules do not give every tensor one layout");
    std::vector<StoredTensor> stored = fuse.put_together(tensors, problems_);
    problems_.raise(rules_.source + ": the fuse rules do not fit the tensors");
    return ModelLayout(form_, mesh_.mesh, std::move(layouts_), std::move(tensors), std::move(stored));
  }

 private:
  std::optional<Index> look_up(std::string_view name, const Captures& captures) const {
    for (const Capture& capture : captures) {
      if (capture.name == name) return capture.value;
    }
    for (const Values* values : {&parameters_, &mesh_.sizes}) {
      if (const auto found = values->find(name); found != values->end()) return found->second;
    }
    return std::nullopt;
  }

  void add(TensorInfo tensor, std::vector<ModelTensor>& tensors) {
    if (!names_.insert(tensor.name).second) {
      problems_.add("tensor '{}' is given twice", tensor.name);
      return;
    }
    try {
      const auto layout = layout_of(tensor);
      if (layout) tensors.push_back({.tensor = std::move(tensor), .layout = *layout});
    } catch (const Error& error) {
      problems_.add("tensor '{}': {}", tensor.name, error.what());
    }
  }

  std::optional<int> layout_of(const TensorInfo& tensor) {
    if (rules_.rules.empty()) return layout_with("{}", tensor);
    const auto match = match_of(tensor.name);
    if (!match) return std::nullopt;
    const LayoutRule& rule = *match->rule->rule;
    try {
      return layout_with(expand(rule.layout, [&](std::string_view name) { return look_up(name, match->captures); }),
                         tensor);
    } catch (const Error& error) {
      fail(Code::invalid_argument, "rule \"{}\" ({}:{}): {}", rule.match, rule.source, rule.line, error.what());
    }
  }

  // Adds a problem and returns nothing unless exactly one rule decides.
  std::optional<Match> match_of(const std::string& name) {
    std::optional<Match> found;
    for (const CompiledRule& rule : compiled_) {
      const auto beaten = [&] {
        const CompiledRule& best = *found->rule;
        return best.rule->priority != rule.rule->priority || best.pattern.has_wildcard() != rule.pattern.has_wildcard();
      };
      if (found && beaten()) break;
      auto captures = rule.pattern.match(name);
      if (!captures) continue;
      if (found) {
        const LayoutRule &one = *found->rule->rule, &other = *rule.rule;
        problems_.add(
            "tensor '{}' matches two rules of one precedence: \"{}\" ({}:{}) and \"{}\" ({}:{}); give one a higher "
            "priority",
            name, one.match, one.source, one.line, other.match, other.source, other.line);
        return std::nullopt;
      }
      found = Match{&rule, std::move(*captures)};
    }
    if (!found) no_match(name);
    return found;
  }

  void no_match(const std::string& name) {
    if (!problems_.shows_more()) {
      problems_.add("{}", name);
      return;
    }
    std::vector<std::string> patterns;
    for (const CompiledRule& rule : compiled_) patterns.push_back(without_numbers(rule.rule->match));
    std::string near;
    for (const std::size_t place : nearest(without_numbers(name), patterns, 3)) {
      near += fmt::format("{}\"{}\"", near.empty() ? "" : ", ", compiled_[place].rule->match);
    }
    problems_.add("no rule matches tensor '{}'; the nearest are {}", name, near);
  }

  // The place of the layout among layouts_; texts are parsed once per shape.
  int layout_with(const std::string& body, const TensorInfo& tensor) {
    const std::string text =
        fmt::format("{}[{}] on {} {}", name_of(tensor.dtype), fmt::join(tensor.shape, ","), mesh_.full.text(), body);
    const auto [place, fresh] = by_text_.try_emplace(text, static_cast<int>(layouts_.size()));
    if (fresh) {
      try {
        layouts_.push_back(without_missing_axes(layout(text), mesh_));
      } catch (...) {
        by_text_.erase(place);
        throw;
      }
    }
    return place->second;
  }

  const ModelRules& rules_;
  Values parameters_;
  ModelMesh mesh_;
  Form form_;
  std::vector<CompiledRule> compiled_;  // by falling precedence
  std::vector<Layout> layouts_;
  std::unordered_map<std::string, int> by_text_;
  std::unordered_set<std::string> names_;
  Problems problems_;
};

}  // namespace

ModelLayout resolve(const ModelRules& rules, std::span<const TensorInfo> tensors, const ResolveSettings& settings) {
  return Resolver(rules, settings).resolve(tensors);
}

}  // namespace reshard
