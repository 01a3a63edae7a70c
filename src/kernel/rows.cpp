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
  const Index ahead = bytes_ahead(loop, row_bytes);
  for (Index i = 0; i < loop.count; ++i) {
    stream_row(target, source, static_cast<std::size_t>(row_bytes), ahead);
    target += loop.target_bytes;
    source += loop.source_bytes;
  }
}

// Whole cache lines.
void streamed_lines(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes) {
  const Index ahead = bytes_ahead(loop, row_bytes);
  for (Index i = 0; i < loop.count; ++i) {
    for (Index done = 0; done < row_bytes; done += kLineBytes) {
      prefetch(source + done, ahead);
      stream_line(target + done, source + done);
    }
    target += loop.target_bytes;
    source += loop.source_bytes;
  }
}

RowLoop streaming_loop_for(Index row_bytes, Streaming streaming) {
  constexpr Index kLongLines = 8192;  // from there on streamed_rows does more at a time
  if (streaming == Streaming::lines && row_bytes < kLongLines) return streamed_lines;
  return streaming != Streaming::none && row_bytes >= kLeastStreamedRow ? streamed_rows : nullptr;
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
