// What one rank holds of a tensor.
#pragma once

#include <vector>

#include "reshard/index.h"

namespace reshard {

// Half open: elements [global, global + length) lie at [local, local + length) of one rank.
struct Segment {
  LocalIndex local;
  GlobalIndex global;
  Index length = 0;
  friend bool operator==(const Segment&, const Segment&) = default;
};

// One dimension: segments sorted by global (and local) position, none empty, none adjacent on both sides.
using Segments = std::vector<Segment>;

Index length_of(const Segments& segments);
// Elements that both hold, in the order of the first; local is that of the first.
Segments intersect(const Segments& a, const Segments& b);

// The product of its dimensions' segments is a set of boxes. A rank outside the mesh, or at another coordinate than an
// `at` axis names, holds nothing: `held` is false. A 0-d tensor that is held has no dimensions and one element.
struct Region {
  bool held = false;
  std::vector<Segments> dims;
  // Elements held; 0 when not held.
  Index elements() const;
  friend bool operator==(const Region&, const Region&) = default;
};

// How one rank stores its region: element (l0, l1, ..) of the region's local indices lies at
// offset + sum of l[d] * strides[d], in elements.
struct LocalStorage {
  std::vector<Index> extents;  // of the logical dimensions, padding included
  std::vector<Index> strides;  // of the logical dimensions
  Index offset = 0;            // of local index (0, 0, ..)
  Index elements = 0;          // size of the buffer that holds the region
  friend bool operator==(const LocalStorage&, const LocalStorage&) = default;
};

}  // namespace reshard
