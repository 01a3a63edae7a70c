// Descends a layout's cuts along one dimension: which coordinates hold given elements, and where.
#pragma once

#include <vector>

#include "layout/divide.h"
#include "reshard/layout.h"

namespace reshard {

// The index of `coordinate` along the product of a cut's axes, first axis slowest; and the size of that product.
Index cut_coordinate(const Mesh& mesh, const Cut& cut, std::span<const Index> coordinate);
Index cut_width(const Mesh& mesh, const Cut& cut);
// Sets the axes of a cut in `coordinate` to the index `at`.
void set_cut_coordinate(const Mesh& mesh, const Cut& cut, Index at, std::span<Index> coordinate);

// A run that lies contiguously here and there.
struct Overlap {
  LocalIndex here;
  LocalIndex there;
  Index length = 0;
};

// What one choice of coordinates holds of the elements asked for.
struct Share {
  std::vector<Index> at;          // index along each cut of the dimension
  std::vector<Overlap> overlaps;  // ascending, adjacent runs merged, never empty
  Index length = 0;               // of all overlaps
};

// `wanted`: segments in indices of the stored dimension `dim` of `layout`; local is the asker's. Shares by ascending
// `at`; coordinates that hold nothing are not visited. Cost: O(result) for contiguous cuts, times O(pieces).
std::vector<Share> locate(const Layout& layout, int dim, const Segments& wanted);

// What the coordinate holds along one stored dimension, and how many elements it stores there.
Segments segments_along(const LayoutSpec& spec, int dim, std::span<const Index> coordinate);
Index stored_along(const LayoutSpec& spec, int dim, std::span<const Index> coordinate);

}  // namespace reshard
