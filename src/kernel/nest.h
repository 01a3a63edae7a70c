// The loops of a strided copy in their simplest form.
#pragma once

#include <array>
#include <cstddef>

#include "reshard/strided_copy.h"

namespace reshard::kernel {

// Equal to the copy it was made from, with fewer, longer loops and rows. Slowest loop first.
struct Nest {
  static constexpr std::size_t kMaxLoops = 16;

  std::byte* target = nullptr;
  const std::byte* source = nullptr;
  Index row_bytes = 0;
  std::size_t depth = 0;
  std::array<Stride, kMaxLoops> loops{};

  Index bytes() const;
};

// Precondition: copy.loops.size() <= Nest::kMaxLoops. A copy of nothing has row_bytes 0.
Nest simplified(std::byte* target, const std::byte* source, const StridedCopy& copy);

}  // namespace reshard::kernel
