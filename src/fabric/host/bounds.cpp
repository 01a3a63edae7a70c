#include "fabric/host/bounds.h"

#include <limits>

namespace reshard::fabric {
namespace {

Index clamped_add(Index a, Index b) {
  Index sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<Index>::min() : std::numeric_limits<Index>::max();
}

Index clamped_mul(Index count, Index stride) {
  Index product = 0;
  if (!__builtin_mul_overflow(count, stride, &product)) return product;
  return stride < 0 ? std::numeric_limits<Index>::min() : std::numeric_limits<Index>::max();
}

ByteRange range_of(const StridedCopy& copy, Index offset, Index Stride::*stride) {
  if (copy.row_bytes == 0) return {};
  // A clamped bound stays clamped: lows only fall, highs only rise.
  ByteRange range{offset, clamped_add(offset, copy.row_bytes), false};
  for (const Stride& loop : copy.loops) {
    if (loop.count == 0) return {};
    const Index reach = clamped_mul(loop.count - 1, loop.*stride);
    (reach < 0 ? range.begin : range.end) = clamped_add(reach < 0 ? range.begin : range.end, reach);
  }
  return range;
}

}  // namespace

ByteRange source_range(const StridedCopy& copy) { return range_of(copy, copy.source_offset, &Stride::source_bytes); }
ByteRange target_range(const StridedCopy& copy) { return range_of(copy, copy.target_offset, &Stride::target_bytes); }

bool is_well_formed(const StridedCopy& copy) {
  if (copy.row_bytes < 0) return false;
  for (const Stride& loop : copy.loops) {
    if (loop.count < 0) return false;
  }
  return true;
}

}  // namespace reshard::fabric
