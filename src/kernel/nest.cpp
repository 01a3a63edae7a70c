#include "kernel/nest.h"

#include <algorithm>
#include <cstdlib>

namespace reshard::kernel {
namespace {

// Loops that run backwards at both ends run forwards from the other end.
void turn_forward(Nest& nest, Stride& loop) {
  if (loop.source_bytes > 0 || loop.target_bytes > 0) return;
  nest.source += (loop.count - 1) * loop.source_bytes;
  nest.target += (loop.count - 1) * loop.target_bytes;
  loop.source_bytes = -loop.source_bytes;
  loop.target_bytes = -loop.target_bytes;
}

// Writes go to memory in order: the inner loop has the smallest target stride.
bool is_slower(const Stride& a, const Stride& b) {
  const Index at = std::abs(a.target_bytes), bt = std::abs(b.target_bytes);
  return at != bt ? at > bt : std::abs(a.source_bytes) > std::abs(b.source_bytes);
}

bool absorbs_into_row(const Nest& nest, const Stride& loop) {
  return loop.source_bytes == nest.row_bytes && loop.target_bytes == nest.row_bytes;
}

bool continues(const Stride& outer, const Stride& inner) {
  return outer.source_bytes == inner.count * inner.source_bytes &&
         outer.target_bytes == inner.count * inner.target_bytes;
}

// Joins neighbours that together are one longer loop; expects the loops in order.
void join_loops(Nest& nest) {
  std::size_t kept = 0;
  for (const Stride loop : nest.used()) {
    if (kept > 0 && continues(nest.loops[kept - 1], loop)) {
      nest.loops[kept - 1] = {nest.loops[kept - 1].count * loop.count, loop.source_bytes, loop.target_bytes};
    } else {
      nest.loops[kept++] = loop;
    }
  }
  nest.depth = kept;
}

}  // namespace

Index Nest::bytes() const {
  Index bytes = row_bytes;
  for (std::size_t i = 0; i < depth; ++i) bytes *= loops[i].count;
  return bytes;
}

Nest ordered(std::byte* target, const std::byte* source, std::span<const Stride> loops) {
  Nest nest{.target = target, .source = source, .row_bytes = 1};
  for (Stride loop : loops) {
    if (loop.count == 0) return {};
    if (loop.count == 1) continue;
    turn_forward(nest, loop);
    nest.loops[nest.depth++] = loop;
  }
  std::sort(nest.loops.begin(), nest.loops.begin() + static_cast<std::ptrdiff_t>(nest.depth), is_slower);
  join_loops(nest);
  return nest;
}

Nest simplified(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  Nest nest = ordered(target + copy.target_offset, source + copy.source_offset, copy.loops);
  nest.row_bytes *= copy.row_bytes;
  // All that continued it is in the innermost loop.
  if (nest.depth > 0 && absorbs_into_row(nest, nest.loops[nest.depth - 1]))
    nest.row_bytes *= nest.loops[--nest.depth].count;
  return nest;
}

bool arrange_for_tiles(Nest& nest) {
  if (nest.depth < 2) return false;
  const auto begin = nest.loops.begin(), last = begin + static_cast<std::ptrdiff_t>(nest.depth) - 1;
  const auto fastest = std::min_element(begin, last + 1, [](const Stride& a, const Stride& b) {
    return std::abs(a.source_bytes) < std::abs(b.source_bytes);
  });
  if (std::abs(fastest->source_bytes) >= std::abs(last->source_bytes)) return false;
  std::rotate(fastest, fastest + 1, last);
  return true;
}

}  // namespace reshard::kernel
