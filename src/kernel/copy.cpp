#include "kernel/copy.h"

#include <algorithm>

#include "kernel/nest.h"
#include "kernel/rows.h"
#include "kernel/stream.h"
#include "reshard/kernel.h"

namespace reshard {
namespace {

using kernel::Nest;
using kernel::RowLoop;

// Rows this short make a transpose: both ends are walked in tiles, so that a cache line is used up before it is lost.
constexpr Index kLongestTiledRow = 32;
constexpr Index kTile = 64;

void run_loops(std::byte* target, const std::byte* source, std::span<const Stride> loops, Index row_bytes,
               RowLoop rows) {
  const Stride& loop = loops.front();
  if (loops.size() == 1) return rows(target, source, loop, row_bytes);
  for (Index i = 0; i < loop.count; ++i) {
    run_loops(target + i * loop.target_bytes, source + i * loop.source_bytes, loops.subspan(1), row_bytes, rows);
  }
}

// Two loops, the inner one fast at the target and the outer one fast at the source.
void run_tiles(std::byte* target, const std::byte* source, const Stride& outer, const Stride& inner, Index row_bytes,
               RowLoop rows) {
  for (Index i = 0; i < outer.count; i += kTile) {
    const Index i_end = std::min(i + kTile, outer.count);
    for (Index j = 0; j < inner.count; j += kTile) {
      Stride part = inner;
      part.count = std::min(kTile, inner.count - j);
      for (Index k = i; k < i_end; ++k) {
        rows(target + k * outer.target_bytes + j * inner.target_bytes,
             source + k * outer.source_bytes + j * inner.source_bytes, part, row_bytes);
      }
    }
  }
}

void run_tiled(std::byte* target, const std::byte* source, std::span<const Stride> loops, Index row_bytes,
               RowLoop rows) {
  if (loops.size() == 2) return run_tiles(target, source, loops[0], loops[1], row_bytes, rows);
  const Stride& loop = loops.front();
  for (Index i = 0; i < loop.count; ++i) {
    run_tiled(target + i * loop.target_bytes, source + i * loop.source_bytes, loops.subspan(1), row_bytes, rows);
  }
}

// More loops than a nest holds: the slowest are run here, one call per iteration.
void copy_deep(std::byte* target, const std::byte* source, StridedCopy copy) {
  const Stride slowest = copy.loops.front();
  copy.loops = copy.loops.subspan(1);
  for (Index i = 0; i < slowest.count; ++i) {
    copy_strided(target + i * slowest.target_bytes, source + i * slowest.source_bytes, copy);
  }
}

}  // namespace

void copy_strided(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  if (copy.loops.size() > Nest::kMaxLoops) return copy_deep(target, source, copy);
  Nest nest = kernel::simplified(target, source, copy);
  if (nest.row_bytes == 0) return;
  if (nest.depth == 0) nest.loops[nest.depth++] = {1, 0, 0};
  const bool stream = kernel::kCanStream && nest.row_bytes >= kernel::kLeastStreamedRow &&
                      std::max(nest.bytes(), copy.job_bytes) >= kernel::kLeastStreamedJob;
  const RowLoop rows = kernel::row_loop_for(nest.row_bytes, stream);
  const bool tiled = nest.row_bytes <= kLongestTiledRow && kernel::arrange_for_tiles(nest);
  (tiled ? run_tiled : run_loops)(nest.target, nest.source, nest.used(), nest.row_bytes, rows);
  if (stream) kernel::finish_streaming();
}

CopyKernel copy_kernel() { return copy_strided; }

}  // namespace reshard
