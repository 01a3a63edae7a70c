// Strict reading of YAML: every fault throws Error(invalid_argument) that names source, line and key.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/index.h"

namespace reshard {

class YamlReader {
 public:
  explicit YamlReader(std::string_view source) : source_(source) {}

  YAML::Node parse(std::string_view text) const;
  // Calls `member` for each key of a mapping; `keys` are the ones allowed, empty = any. Repeated keys are refused.
  void mapping(const YAML::Node& node, std::string_view what, const std::vector<std::string>& keys,
               const std::function<void(const std::string& key, const YAML::Node& value)>& member) const;
  void sequence(const YAML::Node& node, std::string_view what,
                const std::function<void(const YAML::Node& element)>& element) const;
  std::string scalar(const YAML::Node& node, std::string_view what) const;
  Index integer(const YAML::Node& node, std::string_view what) const;
  int line(const YAML::Node& node) const { return node.Mark().line + 1; }
  [[noreturn]] void fault(const YAML::Node& node, std::string_view what) const;

 private:
  std::string source_;
};

}  // namespace reshard
