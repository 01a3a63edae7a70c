// Two strided walks over the same elements, one after the other, as one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reshard/strided_copy.h"

namespace reshard::kernel {

// `first` lays elements out densely, in the order of its loops, the first the slowest; `second` reads them in that
// order and puts each where its own loops say. The loops that take an element from where `first` found it to where
// `second` puts it: the source strides of `first`, the target strides of `second`. Nothing where `first` is not dense,
// or where neither splits into the other's loops.
std::optional<std::vector<Stride>> joined_loops(std::span<const Stride> first, std::span<const Stride> second,
                                                Index element_bytes);

}  // namespace reshard::kernel
