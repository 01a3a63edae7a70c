// The loops of a strided copy in their simplest form.
#pragma once

#include <array>
#include <cstddef>
#include <span>

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
  std::span<const Stride> used() const { return std::span(loops).first(depth); }
};

// Only loops: those of one vanish, those that run backwards at both ends are turned, the rest are sorted so that the
// target is written in order, and what continues each other is one. A loop of 0 makes row_bytes 0, and 1 otherwise.
// Precondition: loops.size() <= Nest::kMaxLoops.
Nest ordered(std::byte* target, const std::byte* source, std::span<const Stride> loops);

// Precondition: copy.loops.size() <= Nest::kMaxLoops. A copy of nothing has row_bytes 0.
Nest simplified(std::byte* target, const std::byte* source, const StridedCopy& copy);

// If the source's fastest loop is not the innermost, moves it next to the innermost and says so: a transpose, where
// both are walked in tiles so that a cache line is used up before it is lost.
bool arrange_for_tiles(Nest& nest);

}  // namespace reshard::kernel
