// The flags that name a model and how it lies on both sides.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace reshard::cli {

struct ModelRequest {
  std::string list;      // checkpoint, index or list of shapes
  std::string shapes;    // with an index: the list of shapes
  std::string from, to;  // model layouts
  std::string from_mesh, to_mesh;
  std::string config;

  void add_to(CLI::App& command);
  // Throws Error(invalid_argument) unless a model is named and both its sides, or two layouts and nothing of a model.
  void check_beside(const std::string& source, const std::string& target, std::string_view command) const;
};

}  // namespace reshard::cli
