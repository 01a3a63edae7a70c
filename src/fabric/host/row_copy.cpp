#include "fabric/host/row_copy.h"

#include <cstring>

namespace reshard::fabric {
namespace {

void copy_nest(std::byte* target, const std::byte* source, std::span<const Stride> loops, Index row_bytes) {
  if (loops.empty()) {
    if (row_bytes > 0) std::memcpy(target, source, static_cast<std::size_t>(row_bytes));
    return;
  }
  const Stride& loop = loops.front();
  for (Index i = 0; i < loop.count; ++i) {
    copy_nest(target + i * loop.target_bytes, source + i * loop.source_bytes, loops.subspan(1), row_bytes);
  }
}

}  // namespace

void copy_rows(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  copy_nest(target + copy.target_offset, source + copy.source_offset, copy.loops, copy.row_bytes);
}

}  // namespace reshard::fabric
