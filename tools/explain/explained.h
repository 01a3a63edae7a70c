// All that explain shows of one layout, or of a move between two.
#pragma once

#include <memory>
#include <optional>

#include "explain/common_grid.h"
#include "explain/cutting.h"
#include "reshard/plan.h"

namespace reshard::cli {

struct Move {
  Cutting target;
  CommonGrid grid;
  Plan plan;
  Certificate certificate;
};

struct Explained {
  Cutting source;
  std::optional<Move> move = {};
};

// Throws what the planner throws.
Explained explained(const Layout& source, const std::optional<Layout>& target, const PlanOptions& options);

struct ShowOptions {
  Index rows = 16;  // of every picture and table
  int width = 100;  // columns of the terminal
  bool colour = false;
};

std::string explain_text(const Explained& explained, const ShowOptions& options);
std::string explain_json(const Explained& explained);
std::string explain_svg(const Explained& explained);

}  // namespace reshard::cli
