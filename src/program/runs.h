// Spans of one dimension that repeat at constant distance.
#pragma once

#include <span>
#include <vector>

#include "reshard/plan.h"

namespace reshard {

// `count` spans of `length`, each `source_step` and `target_step` after the one before it.
struct Run {
  Span first;
  Index count = 1;
  Index source_step = 0;
  Index target_step = 0;
};

std::vector<Run> runs_of(std::span<const Span> spans);

// Advances `at` through the product of `runs`, last dimension fastest; false after the last combination.
bool advance(std::vector<std::size_t>& at, const std::vector<std::vector<Run>>& runs);

}  // namespace reshard
