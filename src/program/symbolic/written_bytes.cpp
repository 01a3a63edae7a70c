#include "program/symbolic/written_bytes.h"

#include <algorithm>
#include <iterator>

namespace reshard {

bool WrittenBytes::add(std::span<const Block> blocks) {
  return std::ranges::all_of(blocks, [&](const Block& block) {
    Index end = block.target_offset + block.row_bytes;
    for (const Loop& loop : block.loops) end += (loop.count - 1) * loop.target_stride;
    return add(block.target_offset, end);
  });
}

bool WrittenBytes::add(Index begin, Index end) {
  auto next = extents_.lower_bound(begin);
  if (next != extents_.end() && next->first < end) return false;
  if (next != extents_.begin()) {
    const auto before = std::prev(next);
    if (before->second > begin) return false;
    if (before->second == begin) {
      before->second = end;
      return true;
    }
  }
  extents_.emplace_hint(next, begin, end);
  return true;
}

}  // namespace reshard
