// A copy in pieces.
#pragma once

#include <algorithm>

#include "fabric/message/strided.h"

namespace reshard::fabric {

inline Index bytes_of_copy(const StridedCopy& copy) {
  Index bytes = copy.row_bytes;
  for (const Stride& loop : copy.loops) bytes *= loop.count;
  return bytes;
}

// Calls act(piece) for copies that make up `copy`, each of at most `limit` bytes and `max_loops` loops. Rows are cut at
// multiples of 64 bytes, so that no element is cut. Precondition: limit >= 64, the copy is not empty.
template <class Act>
void in_pieces(const StridedCopy& copy, Index limit, std::size_t max_loops, const Act& act) {
  const Index bytes = bytes_of_copy(copy);
  if (bytes <= limit && copy.loops.size() <= max_loops) return act(copy);
  StridedCopy piece = copy;
  if (copy.loops.empty()) {
    for (Index done = 0; done < copy.row_bytes; done += piece.row_bytes) {
      piece.source_offset = copy.source_offset + done;
      piece.target_offset = copy.target_offset + done;
      piece.row_bytes = std::min(limit / 64 * 64, copy.row_bytes - done);
      act(piece);
    }
    return;
  }
  // As many turns of the slowest loop at a time as fit.
  std::array<Stride, Strided::kMaxLoops> loops;
  const Stride& slowest = copy.loops.front();
  const bool fits = copy.loops.size() <= std::min(max_loops, loops.size());
  const Index turns = fits ? std::max<Index>(1, limit / (bytes / slowest.count)) : 1;
  for (Index done = 0; done < slowest.count; done += turns) {
    piece.source_offset = copy.source_offset + done * slowest.source_bytes;
    piece.target_offset = copy.target_offset + done * slowest.target_bytes;
    if (turns == 1) {
      piece.loops = copy.loops.subspan(1);
    } else {
      std::copy(copy.loops.begin(), copy.loops.end(), loops.begin());
      loops[0].count = std::min(turns, slowest.count - done);
      piece.loops = std::span<const Stride>(loops).first(copy.loops.size());
    }
    in_pieces(piece, limit, max_loops, act);
  }
}

}  // namespace reshard::fabric
