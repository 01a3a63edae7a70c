// Two layouts in the words of systems that place one tensor on one mesh, or why they have no words for it.
#pragma once

#include <string>

#include "plan/compare/placements.h"

namespace reshard {

struct Described {
  std::string refused;  // why not; then the rest is empty
  TensorOnMesh tensor;
  Placements source;
  Placements target;
};

// Ranks have the same ordinal in `tensor` as in the mesh of the layouts. Precondition: shape and dtype are the same.
Described describe(const Layout& source, const Layout& target);

}  // namespace reshard
