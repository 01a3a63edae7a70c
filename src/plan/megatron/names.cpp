#include "plan/megatron/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/fail.h"
#include "reshard/megatron.h"

namespace reshard::megatron {
namespace {

std::optional<Index> number_in(std::string_view digits) {
  Index number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool all_digits = !digits.empty() && digits.front() != '-' && error == std::errc{};
  return all_digits && end == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

bool lies_in(std::string_view name, std::string_view path) {
  return path.empty() || (name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '.'));
}

class Resolver {
 public:
  explicit Resolver(const Roster& roster) : components_(roster.components) {
    for (const NumberedModule& module : roster.modules) add(module);
    std::set<std::string_view> labels;
    for (const Component& component : components_) {
      if (component.label.empty()) fail(Code::invalid_argument, "component '{}' has no label", component.path);
      if (!labels.insert(component.label).second)
        fail(Code::invalid_argument, "two components are labelled '{}'", component.label);
    }
  }

  std::string resolved(const Parameter& parameter) const {
    std::vector<std::string> parts = split_name(parameter.name);
    number_layers(parameter, parts);
    number_experts(parameter, parts);
    return labelled(parameter, join_name(parts));
  }

 private:
  void add(const NumberedModule& module) {
    const std::vector<std::string> parts = split_name(module.path);
    if (parts.empty() || !number_in(parts.back()))
      fail(Code::invalid_argument, "rank {}: module '{}' has a layer number and its path does not end in a number",
           module.rank.value(), module.path);
    if (module.layer_number < 1)
      fail(Code::invalid_argument, "rank {}: module '{}' is layer {}; layers count from 1", module.rank.value(),
           module.path, module.layer_number);
    const auto [entry, fresh] = layers_.try_emplace({module.rank, module.path}, module.layer_number);
    if (!fresh && entry->second != module.layer_number)
      fail(Code::invalid_argument, "rank {}: module '{}' is layer {} and layer {}", module.rank.value(), module.path,
           entry->second, module.layer_number);
  }

  void number_layers(const Parameter& parameter, std::vector<std::string>& parts) const {
    if (layers_.empty()) return;
    std::string path;
    for (std::string& part : parts) {
      path += path.empty() ? part : "." + part;
      const auto layer = layers_.find({parameter.owner, path});
      if (layer != layers_.end()) part = std::to_string(layer->second - 1);
    }
  }

  void number_experts(const Parameter& parameter, std::vector<std::string>& parts) const {
    if (!parameter.is_ep || parameter.ep_group.size() <= 1) return;
    const std::vector<ExpertNumber> numbers = expert_numbers(parts);
    if (numbers.empty()) return;
    const Index first = first_expert(parameter);
    const Index here = parameter.num_experts / parameter.ep_group.size();
    for (const auto& [part, digits, number] : numbers) {
      if (number >= here)
        fail(Code::invalid_argument, "tensor '{}' of rank {}: local expert {} of {} experts in {} parts; a part has {}",
             parameter.name, parameter.owner.value(), number, parameter.num_experts, parameter.ep_group.size(), here);
      if (parameter.global_expert && *parameter.global_expert != first + number)
        fail(Code::invalid_argument, "tensor '{}' of rank {}: its record says expert {}, its name and group {} say {}",
             parameter.name, parameter.owner.value(), *parameter.global_expert, parameter.ep_group.text(),
             first + number);
      parts[part].replace(digits, std::string::npos, std::to_string(first + number));
    }
  }

  static Index first_expert(const Parameter& parameter) {
    const std::optional<Index> index = parameter.ep_group.index_of(parameter.owner);
    if (!index)
      fail(Code::invalid_argument, "tensor '{}': rank {} is not in its own expert parallel group {}", parameter.name,
           parameter.owner.value(), parameter.ep_group.text());
    const Index size = parameter.ep_group.size();
    if (parameter.num_experts < 1 || parameter.num_experts % size != 0)
      fail(Code::invalid_argument,
           "tensor '{}' of rank {}: {} experts are not divisible by the {} ranks of the expert parallel group {}",
           parameter.name, parameter.owner.value(), parameter.num_experts, size, parameter.ep_group.text());
    return *index * (parameter.num_experts / size);
  }

  std::string labelled(const Parameter& parameter, const std::string& name) const {
    if (components_.empty()) return name;
    const Component* found = nullptr;
    for (const Component& component : components_) {
      if (!lies_in(parameter.name, component.path)) continue;
      if (found != nullptr)
        fail(Code::invalid_argument, "tensor '{}' of rank {} lies in two components, '{}' and '{}'", parameter.name,
             parameter.owner.value(), found->label, component.label);
      found = &component;
    }
    if (found == nullptr)
      fail(Code::invalid_argument, "tensor '{}' of rank {} lies in no component; each must lie in one", parameter.name,
           parameter.owner.value());
    std::vector<std::string> parts = split_name(name);
    const std::size_t path = split_name(found->path).size();
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(path));
    parts.insert(parts.begin(), found->label);
    return join_name(parts);
  }

  std::map<std::pair<RankId, std::string>, Index> layers_;
  const std::vector<Component>& components_;
};

}  // namespace

std::vector<std::string> split_name(std::string_view name) {
  std::vector<std::string> parts;
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    parts.emplace_back(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return parts;
}

std::string join_name(const std::vector<std::string>& parts) {
  std::string name;
  for (const std::string& part : parts) name += name.empty() ? part : "." + part;
  return name;
}

std::vector<ExpertNumber> expert_numbers(const std::vector<std::string>& parts) {
  std::vector<ExpertNumber> numbers;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    std::size_t digits = std::string::npos;
    for (const std::string_view word : {"weight", "bias"})
      if (parts[k].starts_with(word)) digits = word.size();
    if (k > 0 && parts[k - 1] == "local_experts") digits = 0;
    if (digits == std::string::npos) continue;
    if (const auto number = number_in(std::string_view(parts[k]).substr(digits)))
      numbers.push_back({k, digits, *number});
  }
  return numbers;
}

std::vector<std::string> tied_names(std::string_view resolved_name) {
  constexpr std::string_view output = "output_layer.weight";
  if (!resolved_name.ends_with(output)) return {};
  const std::string path(resolved_name.substr(0, resolved_name.size() - output.size()));
  if (!path.empty() && path.back() != '.') return {};
  return {path + "embedding.word_embeddings.weight", path + "word_embeddings.weight"};
}

Roster with_names(Roster roster) {
  const Resolver resolver(roster);
  for (Parameter& parameter : roster.parameters) {
    if (parameter.name.empty())
      fail(Code::invalid_argument, "a tensor of rank {} has no name", parameter.owner.value());
    if (parameter.resolved_name.empty()) parameter.resolved_name = resolver.resolved(parameter);
  }
  return roster;
}

}  // namespace reshard::megatron
