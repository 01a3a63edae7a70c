#include <algorithm>
#include <array>

#include "kernel/cast.h"
#include "kernel/copy.h"
#include "kernel/nest.h"
#include "kernel/rows.h"
#include "kernel/stream.h"

namespace reshard {
namespace {

using kernel::Nest;

// A job of casts: the same for all of its loops.
struct CastJob {
  const CastKernel& cast;
  bool stream = false;

  void row(std::byte* target, const std::byte* source, const Stride& loop) const {
    if (stream) return cast.stream(target, loop.target_bytes, source, loop.source_bytes, loop.count);
    cast(target, loop.target_bytes, source, loop.source_bytes, loop.count);
  }
};

// Of the next row: what streams fetch ahead within a row ends with it.
void fetch_begin(const std::byte* row) {
  for (Index line = 0; line < kernel::kAheadInCast; line += kernel::kLineBytes) kernel::prefetch(row, line);
}

void cast_loops(const CastJob& job, std::byte* target, const std::byte* source, std::span<const Stride> loops) {
  const Stride& loop = loops.front();
  if (loops.size() == 1) return job.row(target, source, loop);
  for (Index i = 0; i < loop.count; ++i) {
    if (loops.size() == 2 && job.stream) fetch_begin(source + (i + 1) * loop.source_bytes);
    cast_loops(job, target + i * loop.target_bytes, source + i * loop.source_bytes, loops.subspan(1));
  }
}

// What is transposed in the nearest cache before it is cast.
constexpr Index kPanelBytes = 16 << 10;
constexpr Index kPanelRow = 64;  // elements

// The panel's rows lie along the target's.
void cast_panel(const CastJob& job, std::byte* target, const std::byte* source, Stride outer, Stride inner) {
  alignas(64) std::array<std::byte, kPanelBytes> panel;
  const Index width = job.cast.source_bytes(), row = kPanelRow * width;
  const Stride loops[] = {{outer.count, outer.source_bytes, row}, {inner.count, inner.source_bytes, width}};
  copy_strided(panel.data(), source, {.row_bytes = width, .loops = loops});
  inner.source_bytes = width;
  for (Index i = 0; i < outer.count; ++i) job.row(target + i * outer.target_bytes, panel.data() + i * row, inner);
}

// The inner one of the last two loops is fast at the target, the outer one at the source.
void cast_transposed(const CastJob& job, std::byte* target, const std::byte* source, std::span<const Stride> loops) {
  const Stride& outer = loops.front();
  if (loops.size() > 2) {
    for (Index i = 0; i < outer.count; ++i)
      cast_transposed(job, target + i * outer.target_bytes, source + i * outer.source_bytes, loops.subspan(1));
    return;
  }
  const Stride& inner = loops[1];
  const Index rows = kPanelBytes / (kPanelRow * job.cast.source_bytes());
  for (Index i = 0; i < outer.count; i += rows)
    for (Index j = 0; j < inner.count; j += kPanelRow)
      cast_panel(job, target + i * outer.target_bytes + j * inner.target_bytes,
                 source + i * outer.source_bytes + j * inner.source_bytes,
                 {std::min(rows, outer.count - i), outer.source_bytes, outer.target_bytes},
                 {std::min(kPanelRow, inner.count - j), inner.source_bytes, inner.target_bytes});
}

// More loops than a nest holds: the slowest are run here, one call per iteration.
void cast_deep(const CastKernel& cast, std::byte* target, const std::byte* source, StridedCast copy) {
  const Stride slowest = copy.loops.front();
  copy.loops = copy.loops.subspan(1);
  for (Index i = 0; i < slowest.count; ++i)
    cast_strided(cast, target + i * slowest.target_bytes, source + i * slowest.source_bytes, copy);
}

}  // namespace

void cast_strided(const CastKernel& cast, std::byte* target, const std::byte* source, const StridedCast& loops) {
  if (loops.loops.size() > Nest::kMaxLoops) return cast_deep(cast, target, source, loops);
  Nest nest = kernel::ordered(target + loops.target_offset, source + loops.source_offset, loops.loops);
  if (nest.row_bytes == 0) return;
  if (nest.depth == 0) nest.loops[nest.depth++] = {1, cast.source_bytes(), cast.target_bytes()};
  const Stride& inner = nest.loops[nest.depth - 1];
  const bool long_rows =
      inner.target_bytes == cast.target_bytes() && inner.count * inner.target_bytes >= kernel::kLeastStreamedRow;
  const Index bytes = std::max(nest.bytes() * cast.target_bytes(), loops.job_bytes);
  CastJob job{cast, kernel::kCanStream && long_rows && bytes >= kernel::kLeastStreamedJob};
  const bool transposes = kernel::arrange_for_tiles(nest);
  (transposes ? cast_transposed : cast_loops)(job, nest.target, nest.source, nest.used());
  if (job.stream && !loops.leaves_stores) kernel::finish_streaming();
}

}  // namespace reshard
