// The pairing of a value with its gradient: every rank's products, and what of them counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reshard/tensor.h"
#include "reshard/world.h"

namespace reshard::op {

// A sum of products. Of integers only `bits`, which wrap, hold something.
struct Dot {
  double real = 0, imaginary = 0;
  double absolute = 0;  // sum of the absolute products
  std::uint64_t bits = 0;
};

// Of this rank: conj(value) * gradient over its elements. The two are laid out alike but for the kinds of their axes.
Dot local_dot(const Tensor& value, const Tensor& gradient);

struct Pair {
  const Tensor& value;
  const Tensor& gradient;
};

// Collective. Of each pair over all ranks, as the kinds of the value's layout say; the same on every rank, bit for bit.
// Throws Error(corrupt) that begins with `what` where ranks along an invariant axis came to different sums.
std::vector<Dot> paired(World& world, const std::vector<Pair>& pairs, const std::string& what);

}  // namespace reshard::op
