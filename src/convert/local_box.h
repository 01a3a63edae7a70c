// A box of one rank's stored tensor, contiguous in its row-major file.
#pragma once

#include <vector>

#include "reshard/index.h"

namespace reshard::convert_detail {

struct LocalBox {
  std::vector<Index> begin;
  std::vector<Index> end;
  Index elements() const;
};

LocalBox whole_box(const std::vector<Index>& shape);
// Position of the box's first element in a row-major tensor of this shape.
Index linear_begin(const LocalBox& box, const std::vector<Index>& shape);
// Boxes of at most `limit` elements (at least 1), in row-major order, that are contiguous if `box` is: the slowest
// dimensions are split first.
std::vector<LocalBox> split(const LocalBox& box, Index limit);

}  // namespace reshard::convert_detail
