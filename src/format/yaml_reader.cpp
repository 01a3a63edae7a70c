#include "format/yaml_reader.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/fail.h"
#include "format/nearest.h"

namespace reshard {

void YamlReader::fault(const YAML::Node& node, std::string_view what) const {
  fail(Code::invalid_argument, "{}:{}: {}", source_, line(node), what);
}

YAML::Node YamlReader::parse(std::string_view text) const {
  try {
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    fail(Code::invalid_argument, "{}:{}: {}", source_, error.mark.line + 1, error.msg);
  }
}

void YamlReader::mapping(const YAML::Node& node, std::string_view what, const std::vector<std::string>& keys,
                         const std::function<void(const std::string&, const YAML::Node&)>& member) const {
  if (!node.IsMap()) fault(node, fmt::format("{} must be a mapping of key: value", what));
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = scalar(entry.first, "a key");
    if (!seen.insert(key).second) fault(entry.first, fmt::format("key '{}' appears twice in {}", key, what));
    if (!keys.empty() && std::find(keys.begin(), keys.end(), key) == keys.end()) {
      fault(entry.first, fmt::format("{} has no key '{}'{}", what, key, did_you_mean(key, keys)));
    }
    member(key, entry.second);
  }
}

void YamlReader::sequence(const YAML::Node& node, std::string_view what,
                          const std::function<void(const YAML::Node&)>& element) const {
  if (!node.IsSequence()) fault(node, fmt::format("{} must be a list", what));
  for (const YAML::Node& item : node) element(item);
}

std::string YamlReader::scalar(const YAML::Node& node, std::string_view what) const {
  if (!node.IsScalar()) fault(node, fmt::format("{} must be a text", what));
  return node.Scalar();
}

Index YamlReader::integer(const YAML::Node& node, std::string_view what) const {
  const std::string text = scalar(node, what);
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fault(node, fmt::format("{} is '{}', not a whole number", what, text));
  }
  return value;
}

}  // namespace reshard
