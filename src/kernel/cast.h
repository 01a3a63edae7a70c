// The cast: elements of one dtype to another.
#pragma once

#include <cstddef>

#include "reshard/dtype.h"
#include "reshard/index.h"

namespace reshard {

// Every element becomes the nearest that the target dtype has, in one rounding, to nearest even:
// docs/design/kernels.md.
class CastKernel {
 public:
  // All but from complex numbers to others: the imaginary part would be dropped.
  static bool exists(Dtype source, Dtype target);
  // Precondition: it exists.
  CastKernel(Dtype source, Dtype target);

  // `count` elements; steps in bytes between elements. The ends must not overlap, but may be the same elements where
  // both dtypes have one size. Allocates nothing.
  void operator()(std::byte* target, Index target_step, const std::byte* source, Index source_step, Index count) const;

 private:
  // By way of a tile of values in a type that holds all of the source's: what is loaded is exact.
  using Load = void (*)(std::byte* tile, const std::byte* source, Index step, Index count);
  using Store = void (*)(std::byte* target, Index step, const std::byte* tile, Index count);
  Load load_ = nullptr;
  Store store_ = nullptr;
};

}  // namespace reshard
