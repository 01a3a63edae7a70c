#include "kernel/rows.h"

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

void streamed_rows(std::byte* target, const std::byte* source, const Stride& loop, Index row_bytes) {
  for (Index i = 0; i < loop.count; ++i) {
    stream_row(target, source, static_cast<std::size_t>(row_bytes), loop.source_bytes);
    target += loop.target_bytes;
    source += loop.source_bytes;
  }
}

}  // namespace

RowLoop row_loop_for(Index row_bytes, bool stream) {
  switch (row_bytes) {
    case 1: return fixed_rows<1>;
    case 2: return fixed_rows<2>;
    case 4: return fixed_rows<4>;
    case 8: return fixed_rows<8>;
    case 16: return fixed_rows<16>;
    case 32: return fixed_rows<32>;
    case 64: return fixed_rows<64>;
    default: return stream && row_bytes >= kLeastStreamedRow ? streamed_rows : plain_rows;
  }
}

void finish_streaming() { stream_fence(); }

}  // namespace reshard::kernel
