// Who holds what under a layout, found by cutting lists of global indices element by element.
//
// Shares with the library only the description of a layout (its spec) and the mesh's numbering of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "oracle/cutting.h"
#include "reshard/layout.h"

namespace reshard::oracle {

// One rank's part of a tensor.
struct Part {
  bool held = false;           // the tensor exists here, and so do the dropped indices of its view
  std::vector<Line> stored;    // per stored dimension: the global index at each local position, or a hole
  std::vector<Line> logical;   // per dimension of the view: the view's index at each local position, or a hole
  std::vector<Index> strides;  // per stored dimension, in elements
  std::vector<Index> buffer;   // at each address: the linear index in the view's shape, or a hole
};

struct Ownership {
  std::vector<Index> shape;     // of the view
  std::map<Index, Part> parts;  // by rank; only ranks of the mesh
};

Ownership ownership_of(const Layout& layout);
// Only the `stored` lines of one part.
std::vector<Line> stored_lines(const Layout& layout, const Coordinate& coordinate);

// For each element of the view's shape, row-major: the set of ranks that hold it, as bits. Ranks must be below 64.
std::vector<std::uint64_t> owner_bits(const Ownership& ownership);

Index product(const std::vector<Index>& extents);
// Calls visit(index) for all indices below `extents`, row-major; once, with an empty index, for no dimensions.
template <class Visit>
void each_index(const std::vector<Index>& extents, Visit&& visit) {
  std::vector<Index> index(extents.size());
  for (Index k = 0; k < product(extents); ++k) {
    Index rest = k;
    for (std::size_t d = extents.size(); d-- > 0;) {
      index[d] = rest % extents[d];
      rest /= extents[d];
    }
    visit(index);
  }
}
Index linear_index(const std::vector<Index>& index, const std::vector<Index>& extents);

}  // namespace reshard::oracle
