#include "kernel/transpose.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernel/stream.h"
#include "kernel/transpose_lines.h"

namespace reshard::kernel {
namespace {

// Rows of either end walked together: their pages fit the second level of address translation, and both their lines
// and the neighbours of these are used before they are lost.
constexpr Index kPanel = 512;
// With less, the blocks would be mostly margin.
constexpr Index kLeastTranspose = 256;

// Block coordinates: rows as they lie at the source.
struct Transpose {
  std::byte* target;
  const std::byte* source;
  Index target_stride, source_stride;
  Index element;
  TransposeLines lines;
  bool stream;

  Index side() const { return kLineBytes / element; }
  const std::byte* source_at(Index row, Index column) const { return source + row * source_stride + column * element; }
  std::byte* target_at(Index row, Index column) const { return target + column * target_stride + row * element; }

  void block(Index row, Index column) const {
    alignas(kLineBytes) std::array<std::byte, kLineBytes * kLineBytes> turned;
    lines(turned.data(), source_at(row, column), source_stride);
    std::byte* to = target_at(row, column);
    for (Index i = 0; i < side(); ++i, to += target_stride) {
      if (stream) {
        stream_line(to, turned.data() + i * kLineBytes);
      } else {
        std::memcpy(to, turned.data() + i * kLineBytes, kLineBytes);
      }
    }
  }

  // Less than a whole block, copied to where a whole one may be read.
  void part(Index row, Index column, Index rows, Index columns) const {
    alignas(kLineBytes) std::array<std::byte, kLineBytes * kLineBytes> straight, turned;
    for (Index i = 0; i < rows; ++i)
      std::memcpy(straight.data() + i * kLineBytes, source_at(row + i, column),
                  static_cast<std::size_t>(columns * element));
    lines(turned.data(), straight.data(), kLineBytes);
    for (Index i = 0; i < columns; ++i)
      std::memcpy(target_at(row, column + i), turned.data() + i * kLineBytes, static_cast<std::size_t>(rows * element));
  }

  void panel(Index row, Index column, Index rows, Index columns) const {
    const Index n = side(), rows_end = row + rows, columns_end = column + columns;
    for (Index i = row; i < rows_end; i += n)
      for (Index j = column; j < columns_end; j += n) {
        if (i + n <= rows_end && j + n <= columns_end) {
          block(i, j);
        } else {
          part(i, j, std::min(n, rows_end - i), std::min(n, columns_end - j));
        }
      }
  }

  void all(Index first_row, Index rows, Index columns) const {
    if (first_row > 0) panel(0, 0, first_row, columns);
    for (Index i = first_row; i < rows; i += kPanel)
      for (Index j = 0; j < columns; j += kPanel)
        panel(i, j, std::min(kPanel, rows - i), std::min(kPanel, columns - j));
  }
};

}  // namespace

bool is_transpose(const Stride& outer, const Stride& inner, Index element_bytes) {
  return outer.source_bytes == element_bytes && inner.target_bytes == element_bytes &&
         outer.count * inner.count * element_bytes >= kLeastTranspose && transpose_lines(element_bytes) != nullptr;
}

void transpose(std::byte* target, const std::byte* source, const Stride& outer, const Stride& inner,
               Index element_bytes, bool stream) {
  const auto odd = static_cast<Index>(reinterpret_cast<std::uintptr_t>(target) % kLineBytes);
  const bool can_align = outer.target_bytes % kLineBytes == 0 && odd % element_bytes == 0;
  Transpose job{target,
                source,
                outer.target_bytes,
                inner.source_bytes,
                element_bytes,
                transpose_lines(element_bytes),
                kCanStream && stream && can_align};
  // Up to where all target rows begin a cache line.
  const Index head = can_align ? (kLineBytes - odd) % kLineBytes / element_bytes : 0;
  job.all(std::min(head, inner.count), inner.count, outer.count);
}

}  // namespace reshard::kernel
