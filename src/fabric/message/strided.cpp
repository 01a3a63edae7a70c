#include "fabric/message/strided.h"

#include <algorithm>
#include <cstring>

namespace reshard::fabric {

// From the fastest loop to the slowest: a loop whose step is what lies below it becomes part of that.
Strided strided_end(const StridedCopy& copy, End end, std::byte* memory, StridedLoops& loops) {
  Strided merged{.row_bytes = copy.row_bytes};
  std::size_t kept = loops.size();
  for (std::size_t i = copy.loops.size(); i-- > 0;) {
    const Stride& stride = copy.loops[i];
    const Index step = end == End::source ? stride.source_bytes : stride.target_bytes;
    if (stride.count == 1) continue;
    if (kept == loops.size() && step == merged.row_bytes) {
      merged.row_bytes *= stride.count;
    } else if (kept < loops.size() && step == loops[kept].step * loops[kept].count) {
      loops[kept].count *= stride.count;
    } else {
      loops[--kept] = {stride.count, step};
    }
  }
  std::copy(loops.begin() + static_cast<std::ptrdiff_t>(kept), loops.end(), loops.begin());
  merged.loops = std::span(loops).first(loops.size() - kept);
  merged.base = memory + (end == End::source ? copy.source_offset : copy.target_offset);
  return merged;
}

StridedWalk::StridedWalk(const Strided& all) : all_(all), row_(all.base), left_(all.bytes()) {}

std::span<std::byte> StridedWalk::next(Index limit) {
  const Index bytes = std::min({limit, left_, all_.row_bytes - in_row_});
  const std::span<std::byte> piece(row_ + in_row_, static_cast<std::size_t>(bytes));
  in_row_ += bytes;
  left_ -= bytes;
  if (in_row_ < all_.row_bytes || left_ == 0) return piece;
  in_row_ = 0;
  for (std::size_t i = all_.loops.size(); i-- > 0;) {
    const Strided::Loop& loop = all_.loops[i];
    row_ += loop.step;
    if (++turn_[i] < loop.count) break;
    row_ -= loop.step * loop.count;
    turn_[i] = 0;
  }
  return piece;
}

void StridedWalk::gather(std::byte* to, Index bytes) {
  while (bytes > 0) {
    const auto piece = next(bytes);
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
    bytes -= static_cast<Index>(piece.size());
  }
}

void StridedWalk::scatter(const std::byte* from, Index bytes) {
  while (bytes > 0) {
    const auto piece = next(bytes);
    std::memcpy(piece.data(), from, piece.size());
    from += piece.size();
    bytes -= static_cast<Index>(piece.size());
  }
}

}  // namespace reshard::fabric
