// Random layouts of every kind: all cuts, meshes, sub-axes, `at`, views and storage orders.
#pragma once

#include <optional>
#include <vector>

#include "property/random.h"
#include "reshard/layout.h"

namespace reshard {

// 0 to 4 dimensions, at most a few hundred elements; empty dimensions now and then.
std::vector<Index> random_shape(Random& random);

struct RandomOptions {
  bool views = true;
  bool storage = true;
  bool at = true;
  bool replicas = true;           // false: no two ranks hold the same element
  std::optional<Mesh> mesh = {};  // random where none is given
};

// Ranks stay below 32. The view's shape is `shape`.
Layout random_layout(Random& random, const std::vector<Index>& shape, Dtype dtype, const RandomOptions& options = {});
Mesh random_mesh(Random& random);

}  // namespace reshard
