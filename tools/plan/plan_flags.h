// The options of a plan, as flags.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "reshard/plan.h"

namespace reshard::cli {

// "local, balanced, .. or megatron", for help and errors.
std::string policy_names();
// Throws Error(invalid_argument) that lists the names.
SenderPolicy policy_named(const std::string& name);

struct PlanFlags {
  std::string policy = "local";
  Index ranks_per_host = 0;
  Index ranks_per_rack = 0;

  void add_to(CLI::App& command);
  // Throws Error(invalid_argument) for racks that cut hosts.
  PlanOptions options() const;
};

}  // namespace reshard::cli
