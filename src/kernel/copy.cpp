#include "kernel/copy.h"

#include <algorithm>

#include "kernel/nest.h"
#include "kernel/rows.h"
#include "kernel/stream.h"
#include "kernel/transpose.h"
#include "reshard/kernel.h"

namespace reshard {
namespace {

using kernel::Nest;
using kernel::RowLoop;
using kernel::Streaming;

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

Streaming streaming_of(const Nest& nest, bool is_large) {
  if (!is_large) return Streaming::none;
  Index ends = static_cast<Index>(reinterpret_cast<std::uintptr_t>(nest.target)) | nest.row_bytes;
  for (const Stride& loop : nest.used()) ends |= loop.target_bytes;
  return ends % kernel::kLineBytes == 0 ? Streaming::lines : Streaming::rows;
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

// A nest whose last two loops are a transpose.
void run_tiled(std::byte* target, const std::byte* source, std::span<const Stride> loops, Index row_bytes,
               bool stream) {
  const Stride& loop = loops.front();
  if (loops.size() == 2) {
    if (kernel::is_transpose(loop, loops[1], row_bytes))
      return kernel::transpose(target, source, loop, loops[1], row_bytes, stream);
    return run_tiles(target, source, loop, loops[1], row_bytes, kernel::row_loop_for(row_bytes, Streaming::none));
  }
  for (Index i = 0; i < loop.count; ++i) {
    run_tiled(target + i * loop.target_bytes, source + i * loop.source_bytes, loops.subspan(1), row_bytes, stream);
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
  const bool stream = kernel::kCanStream && std::max(nest.bytes(), copy.job_bytes) >= kernel::kLeastStreamedJob;
  if (nest.row_bytes <= kLongestTiledRow && kernel::arrange_for_tiles(nest)) {
    run_tiled(nest.target, nest.source, nest.used(), nest.row_bytes, stream);
  } else {
    run_loops(nest.target, nest.source, nest.used(), nest.row_bytes,
              kernel::row_loop_for(nest.row_bytes, streaming_of(nest, stream)));
  }
  if (stream && !copy.leaves_stores) kernel::finish_streaming();
}

CopyKernel copy_kernel() { return copy_strided; }

}  // namespace reshard
