// Both ends of a strided copy as lists of rows: merged, walked in pieces, gathered and scattered.
#pragma once

#include <array>

#include "fabric/message/wire.h"

namespace reshard::fabric {

// The loops of one end, in place of their own.
using StridedLoops = std::array<Strided::Loop, Strided::kMaxLoops>;

enum class End { source, target };

// One end of the copy, `memory` being what its offset counts from; with as few loops as describe it: loops of one turn
// are left out, rows that touch are one row. The bytes come in the order of the copy's loops at either end. Loops are
// written to `loops`, which the result views.
// Precondition: at most kMaxLoops loops.
Strided strided_end(const StridedCopy& copy, End end, std::byte* memory, StridedLoops& loops);

// The bytes of a Strided in order, as many at a time as one likes. Thread rule: confined.
class StridedWalk {
 public:
  StridedWalk() = default;
  explicit StridedWalk(const Strided& all);

  Index left() const { return left_; }
  // The next bytes, at most `limit`, that lie together; not empty while any are left. Counts them as passed.
  std::span<std::byte> next(Index limit);
  // Precondition: bytes <= left().
  void gather(std::byte* to, Index bytes);
  void scatter(const std::byte* from, Index bytes);

 private:
  Strided all_;
  std::array<Index, Strided::kMaxLoops> turn_{};
  std::byte* row_ = nullptr;
  Index in_row_ = 0;
  Index left_ = 0;
};

}  // namespace reshard::fabric
