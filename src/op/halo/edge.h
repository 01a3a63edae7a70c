// What lies beyond the ends of a dimension.
#pragma once

#include "reshard/halo.h"

namespace reshard::halo {

// Where a cell gets its value.
struct Origin {
  bool is_constant = false;
  bool crosses = false;  // a pole, an odd number of times
  Index cell = 0;        // of the tensor, unless it is constant
  friend bool operator==(const Origin&, const Origin&) = default;
};

// Of cell `at`, which may lie outside [0, extent). Precondition: extent > 0, and within it for an edge of none.
Origin origin_of(const HaloEdge& edge, Index at, Index extent);

// Negative dimensions counted from 0. Throws as HaloPlan does where the halo does not fit a tensor of this shape.
Halo checked(const Halo& halo, const std::vector<Index>& shape, Dtype dtype, const std::string& where);

// As they are applied: that of a pole first, others as listed. Positions in halo.dims.
std::vector<std::size_t> order_of(const Halo& halo);
// The one with a pole, or null.
const HaloDim* pole_of(const Halo& halo);
const HaloDim* dim_of(const Halo& halo, std::size_t dim);

}  // namespace reshard::halo
