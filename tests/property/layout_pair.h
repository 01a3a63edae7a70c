// A move to try: random, judged in every way there is, and made smaller while its fault stays.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "property/random_layout.h"
#include "reshard/plan.h"

namespace reshard {

struct LayoutPair {
  Layout source;
  Layout target;
  PlanOptions options = {};
  std::string text() const;
};

// Two layouts of one shape on equal, overlapping or disjoint meshes; ranks stay below 64.
LayoutPair random_pair(Random& random, const RandomOptions& options = {});
// Any policy, hosts, racks and rotation.
PlanOptions random_plan_options(Random& random);

// All that is wrong with moving a pair: its plan against the oracle and the verifier, each rank's own part of it, the
// way there and back, the way by `middle` (of the same shape), and layouts and plan as text. Exceptions are faults.
std::vector<std::string> pair_faults(const LayoutPair& pair, const Layout& middle);

// Pairs that are a little simpler: fewer ranks, dimensions, elements, cuts, and plainer rules, meshes and memory. What
// makes no layout is left out.
std::vector<LayoutPair> simpler_pairs(const LayoutPair& pair);
// Takes the first simpler pair that `fails`, again and again, until none does. `pair` must fail.
LayoutPair shrunk(LayoutPair pair, const std::function<bool(const LayoutPair&)>& fails);

}  // namespace reshard
