#include "kernel/transpose_lines.h"

#include <utility>

#include "kernel/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/transpose_lines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace reshard::kernel::HWY_NAMESPACE {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

TransposeLines lines_of(Index) { return nullptr; }

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLineBytes = 64, kPiece = 16;  // bytes of a line, and of a block of a vector

// The blocks of 16 bytes of a vector, `pitch` bytes apart.
template <class D, class V>
HWY_INLINE void store_pieces(D d, V v, std::byte* to, std::size_t pitch) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == kPiece) {
    hn::StoreU(v, d, reinterpret_cast<hn::TFromD<D>*>(to));
  } else {
    const hn::Half<D> half;
    constexpr std::size_t pieces = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) / kPiece;
    store_pieces(half, hn::LowerHalf(half, v), to, pitch);
    store_pieces(half, hn::UpperHalf(half, v), to + pieces / 2 * pitch, pitch);
  }
}

// n rows of n elements in every block of 16 bytes become columns: log2(n) times, the first half of the rows is
// interleaved with the second.
template <std::size_t n, class D, class V>
HWY_INLINE void transpose_pieces(D d, V (&rows)[n]) {
  for (std::size_t step = 1; step < n; step *= 2) {
    V next[n];
    for (std::size_t i = 0; i < n / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + n / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + n / 2]);
    }
    for (std::size_t i = 0; i < n; ++i) rows[i] = next[i];
  }
}

// Elements of T, or of 16 bytes, which no interleaving takes apart, if `pair`.
template <class T, bool pair = false>
void lines(std::byte* to, const std::byte* source, Index source_stride) {
  using D = hn::CappedTag<T, kLineBytes / sizeof(T)>;
  constexpr D d;
  constexpr std::size_t width = hn::MaxLanes(D()) * sizeof(T);
  constexpr std::size_t n = pair ? 1 : kPiece / sizeof(T);  // elements of a piece
  for (std::size_t column = 0; column < kLineBytes; column += width) {
    for (std::size_t piece = 0; piece < kLineBytes / kPiece; ++piece) {
      const std::byte* from = source + static_cast<Index>(piece * n) * source_stride + column;
      hn::Vec<D> rows[n];
      for (std::size_t i = 0; i < n; ++i)
        rows[i] = hn::LoadU(d, reinterpret_cast<const T*>(from + static_cast<Index>(i) * source_stride));
      transpose_pieces<n>(d, rows);
      std::byte* first = to + column / kPiece * n * kLineBytes + piece * kPiece;
      for (std::size_t i = 0; i < n; ++i) store_pieces(d, rows[i], first + i * kLineBytes, n * kLineBytes);
    }
  }
}

TransposeLines lines_of(Index element_bytes) {
  switch (element_bytes) {
    case 1: return lines<std::uint8_t>;
    case 2: return lines<std::uint16_t>;
    case 4: return lines<std::uint32_t>;
    case 8: return lines<std::uint64_t>;
    case 16: return lines<std::uint64_t, true>;
    default: return nullptr;
  }
}

#endif
}  // namespace reshard::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace reshard::kernel {

HWY_EXPORT(lines_of);

TransposeLines transpose_lines(Index element_bytes) { return HWY_DYNAMIC_DISPATCH(lines_of)(element_bytes); }

}  // namespace reshard::kernel
#endif
