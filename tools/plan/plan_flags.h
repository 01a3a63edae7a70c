// The options of a plan, as flags.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "reshard/plan.h"

namespace reshard::cli {

struct PlanFlags {
  std::string policy = "local";
  Index ranks_per_host = 0;

  void add_to(CLI::App& command);
  PlanOptions options() const;
};

}  // namespace reshard::cli
