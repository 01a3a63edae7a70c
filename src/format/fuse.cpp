#include "format/fuse.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/checked.h"
#include "base/fail.h"
#include "format/expression.h"
#include "format/nearest.h"

namespace reshard {

namespace {

void check_pattern(const FuseRule& rule, const Pattern& store, const Pattern& pattern) {
  if (pattern.has_wildcard()) {
    fail(Code::invalid_argument,
         "fuse rule \"{}\" ({}:{}): \"{}\" has a wildcard; captures as {{layer}} tell which "
         "tensors belong together",
         rule.store, rule.source, rule.line, pattern.text());
  }
  const auto sorted = [](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  };
  if (sorted(pattern.capture_names()) != sorted(store.capture_names())) {
    fail(Code::invalid_argument, "fuse rule \"{}\" ({}:{}): part \"{}\" has other captures", rule.store, rule.source,
         rule.line, pattern.text());
  }
}

}  // namespace

FuseRules::FuseRules(std::span<const FuseRule> rules, LookUp look_up) : look_up_(std::move(look_up)) {
  for (const FuseRule& rule : rules) {
    Compiled compiled{&rule, Pattern(rule.store), {}};
    check_pattern(rule, compiled.store, compiled.store);
    for (const FusePart& part : rule.parts) {
      compiled.parts.emplace_back(part.name);
      check_pattern(rule, compiled.store, compiled.parts.back());
    }
    rules_.push_back(std::move(compiled));
  }
}

std::vector<TensorInfo> FuseRules::take_apart(std::span<const TensorInfo> tensors, Problems& problems) const {
  std::vector<TensorInfo> out;
  out.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) {
    bool fused = false;
    for (const Compiled& rule : rules_) {
      const auto captures = rule.store.match(tensor.name);
      if (!captures) continue;
      fused = true;
      try {
        split(rule, tensor, *captures, out);
      } catch (const Error& error) {
        problems.add("tensor '{}', fused by the rule at {}:{}: {}", tensor.name, rule.rule->source, rule.rule->line,
                     error.what());
      }
      break;
    }
    if (!fused) out.push_back(tensor);
  }
  return out;
}

void FuseRules::split(const Compiled& rule, const TensorInfo& tensor, const Captures& captures,
                      std::vector<TensorInfo>& out) const {
  const auto dim = static_cast<std::size_t>(rule.rule->dim);
  if (dim >= tensor.shape.size()) {
    fail(Code::invalid_argument, "it has {} dimensions, dimension {} is to be split", tensor.shape.size(), dim);
  }
  std::vector<TensorInfo> parts;
  Index total = 0;
  for (std::size_t k = 0; k < rule.parts.size(); ++k) {
    const FusePart& part = rule.rule->parts[k];
    if (part.size.empty()) {
      fail(Code::invalid_argument, "it comes fused, and part \"{}\" has no 'size' to take it apart", part.name);
    }
    const Index size = evaluate(part.size, [&](std::string_view name) { return look_up_(name, captures); });
    if (size < 0) fail(Code::invalid_argument, "part \"{}\" has the size {} = {}", part.name, part.size, size);
    total = checked_add(total, size, "sizes of the parts");
    parts.push_back({rule.parts[k].fill(captures), tensor.dtype, tensor.shape});
    parts.back().shape[dim] = size;
  }
  if (total != tensor.shape[dim]) {
    fail(Code::invalid_argument, "its parts add up to {} of the {} elements of dimension {}", total, tensor.shape[dim],
         dim);
  }
  out.insert(out.end(), parts.begin(), parts.end());
}

// Finds the parts of fused tensors among the logical ones.
class FuseRules::Grouping {
 public:
  Grouping(const std::vector<ModelTensor>& tensors, Problems& problems)
      : tensors_(tensors), taken_(tensors.size()), problems_(problems) {
    for (std::size_t i = 0; i < tensors.size(); ++i) places_.emplace(tensors[i].tensor.name, static_cast<int>(i));
  }

  // The fused tensor of these captures; nothing if it is there already or cannot be.
  std::optional<StoredTensor> group(const Compiled& rule, const Captures& captures) {
    StoredTensor fused{.name = rule.store.fill(captures), .dim = rule.rule->dim};
    if (!done_.emplace(&rule, fused.name).second) return std::nullopt;
    for (const Pattern& part : rule.parts) {
      const auto place = take(part.fill(captures), fused.name);
      if (!place) return std::nullopt;
      fused.parts.push_back(*place);
    }
    return fused;
  }

 private:
  std::optional<int> take(const std::string& name, const std::string& fused) {
    const auto found = places_.find(name);
    if (found == places_.end()) {
      problems_.add("fused tensor '{}' lacks its part '{}'{}", fused, name, hint(name));
      return std::nullopt;
    }
    std::vector<bool>::reference taken = taken_[static_cast<std::size_t>(found->second)];
    if (taken) {
      problems_.add("tensor '{}' is a part of two fused tensors, one is '{}'", name, fused);
      return std::nullopt;
    }
    taken = true;
    return found->second;
  }

  std::string hint(const std::string& name) const {
    if (!problems_.shows_more()) return "";
    std::vector<std::string> names;
    for (const ModelTensor& tensor : tensors_) names.push_back(tensor.tensor.name);
    return did_you_mean(name, names);
  }

  const std::vector<ModelTensor>& tensors_;
  std::unordered_map<std::string_view, int> places_;
  std::set<std::pair<const Compiled*, std::string>> done_;
  std::vector<bool> taken_;
  Problems& problems_;
};

std::vector<StoredTensor> FuseRules::put_together(std::vector<ModelTensor>& tensors, Problems& problems) const {
  Grouping grouping(tensors, problems);
  std::vector<StoredTensor> stored;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    bool part = false;
    for (const Compiled& rule : rules_) {
      for (const Pattern& pattern : rule.parts) {
        const auto captures = pattern.match(tensors[i].tensor.name);
        if (!captures) continue;
        part = true;
        if (auto fused = grouping.group(rule, *captures)) stored.push_back(std::move(*fused));
      }
    }
    if (!part) stored.push_back({tensors[i].tensor.name, 0, {static_cast<int>(i)}});
  }
  for (std::size_t s = 0; s < stored.size(); ++s) {
    for (std::size_t k = 0; k < stored[s].parts.size(); ++k) {
      ModelTensor& tensor = tensors[static_cast<std::size_t>(stored[s].parts[k])];
      tensor.stored = static_cast<int>(s);
      tensor.part = static_cast<int>(k);
    }
  }
  return stored;
}

}  // namespace reshard
