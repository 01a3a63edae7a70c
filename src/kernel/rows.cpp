#include "kernel/rows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernel/stream.h"

namespace reshard::kernel {
namespace {

// A memcpy of constant size is a move or two, with no call.
template <std::size_t Bytes>
void fixed_rows(std::byte* target, const std::byte* source, const Stride& loop, Index) {
  for (Index i = 0; i < loop.count; ++i) {
    std::memcpy(target, source, Bytes);
    target += loop.target_bytes;
    source += loop.source_bytes;
  }
}

void plain_rows(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes) {
  for (Index i = 0; i < loop.count; ++i) {
    std::memcpy(target, source, static_cast<std::size_t>(row_bytes));
    target += loop.target_bytes;
    source += loop.source_bytes;
  }
}

// Rows from `least` to twice that, by two moves that overlap where they meet.
template <std::size_t least>
void overlapping_rows(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes) {
  const Index second = row_bytes - static_cast<Index>(least);
  for (Index i = 0; i < loop.count; ++i) {
    std::array<std::byte, least> head, tail;
    std::memcpy(head.data(), source, least);
    std::memcpy(tail.data(), source + second, least);
    std::memcpy(target, head.data(), least);
    std::memcpy(target + second, tail.data(), least);
    target += loop.target_bytes;
    source += loop.source_bytes;
  }
}

// What is read about 4 KiB later, in whole rows: processors do not foresee rows that lie in different pages.
Index bytes_ahead(const Stride& loop, Index row_bytes) {
  return std::clamp<Index>(4096 / row_bytes, 1, 8) * loop.source_bytes;
}

void streamed_rows(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes) {
  const Index ahead = loop.source_bytes == row_bytes ? kAheadInRow : bytes_ahead(loop, row_bytes);
  for (Index i = 0; i < loop.count; ++i) {
    stream_row(target, source, row_bytes, ahead);
    target += loop.target_bytes;
    source += loop.source_bytes;
  }
}

// Whole cache lines, two rows side by side.
void streamed_pairs(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes) {
  constexpr Index kLongest = 8192;  // what is fetched a pair ahead is still there when it is read
  const Index ahead = row_bytes <= kLongest ? 2 * loop.source_bytes : 0;
  Index i = 0;
  for (; i + 2 <= loop.count; i += 2) {
    stream_two(target, target + loop.target_bytes, source, source + loop.source_bytes, row_bytes, ahead);
    target += 2 * loop.target_bytes;
    source += 2 * loop.source_bytes;
  }
  if (i < loop.count) stream_lines(target, source, row_bytes, 0);
}

// Whole cache lines. The source's own order, where it is contiguous, is the one that processors foresee best.
void streamed_lines(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes) {
  constexpr Index kLeastPaired = 1024;
  if (row_bytes >= kLeastHalved) return streamed_rows(target, source, loop, row_bytes);
  const bool is_linear = loop.source_bytes == row_bytes;
  if (row_bytes >= kLeastPaired && !is_linear) return streamed_pairs(target, source, loop, row_bytes);
  const Index ahead = is_linear ? kAheadInRow : bytes_ahead(loop, row_bytes);
  for (Index i = 0; i < loop.count; ++i) {
    stream_lines(target, source, row_bytes, ahead);
    target += loop.target_bytes;
    source += loop.source_bytes;
  }
}

RowLoop streaming_loop_for(Index row_bytes, Streaming streaming) {
  if (streaming == Streaming::lines) return streamed_lines;
  return streaming == Streaming::rows && row_bytes >= kLeastStreamedRow ? streamed_rows : nullptr;
}

}  // namespace

RowLoop row_loop_for(Index row_bytes, Streaming streaming) {
  if (const RowLoop loop = streaming_loop_for(row_bytes, streaming)) return loop;
  switch (row_bytes) {
    case 1: return fixed_rows<1>;
    case 2: return fixed_rows<2>;
    case 4: return fixed_rows<4>;
    case 8: return fixed_rows<8>;
    case 16: return fixed_rows<16>;
    case 32: return fixed_rows<32>;
    case 64: return fixed_rows<64>;
    default: break;
  }
  if (row_bytes > 64) return plain_rows;
  return row_bytes > 32   ? overlapping_rows<32>
         : row_bytes > 16 ? overlapping_rows<16>
         : row_bytes > 8  ? overlapping_rows<8>
         : row_bytes > 4  ? overlapping_rows<4>
                          : overlapping_rows<2>;
}

void finish_streaming() { stream_fence(); }

}  // namespace reshard::kernel
