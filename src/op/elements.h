// The elements that a rank holds of a tensor, one by one.
#pragma once

#include <functional>

#include "reshard/tensor.h"

namespace reshard::op {

// Calls visit(address, linear) for each, in order: its address in the buffer, in elements, and its number in the whole
// tensor, row-major.
template <class Visit>
void each_element(const Tensor& tensor, Visit visit, std::size_t dim = 0, Index address = 0, Index linear = 0) {
  const Region& region = tensor.region();
  if (!region.held) return;
  if (dim == 0) address = tensor.storage().offset;
  if (dim == region.dims.size()) return visit(address, linear);
  for (const Segment& segment : region.dims[dim])
    for (Index i = 0; i < segment.length; ++i)
      each_element(tensor, visit, dim + 1, address + (segment.local.value() + i) * tensor.storage().strides[dim],
                   linear * tensor.layout().shape()[dim] + segment.global.value() + i);
}

}  // namespace reshard::op
