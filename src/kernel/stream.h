// Stores that bypass the cache: a large copy then neither reads its target first nor throws out what the cache holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reshard/index.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace reshard::kernel {

inline constexpr Index kLineBytes = 64;
// Shorter rows gain nothing: their partial cache lines at both ends cost more than is saved.
inline constexpr Index kLeastStreamedRow = 512;
// Below this the data may stay in the cache for its reader, and a plain copy is faster.
inline constexpr Index kLeastStreamedJob = Index{4} << 20;

#if defined(__x86_64__)
inline constexpr bool kCanStream = true;

// SSE2, which every x86-64 has. AVX-512 was measured to be no faster once the loads are prefetched: memory is the
// limit, and a line on its way there is the same whether four stores wrote it or one.
inline void stream_line(std::byte* target, const std::byte* source) {
  const auto* from = reinterpret_cast<const __m128i*>(source);
  auto* to = reinterpret_cast<__m128i*>(target);
  const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
  const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
  _mm_stream_si128(to, a);
  _mm_stream_si128(to + 1, b);
  _mm_stream_si128(to + 2, c);
  _mm_stream_si128(to + 3, d);
}

// A hint: the address may lie anywhere. Inlined at once, or compilers see a function without effects and drop the call.
[[gnu::always_inline]] inline void prefetch(const std::byte* source, Index ahead) {
  _mm_prefetch(
      reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(source) + static_cast<std::uintptr_t>(ahead)),
      _MM_HINT_T0);
}

inline void stream_fence() { _mm_sfence(); }
#else
inline constexpr bool kCanStream = false;
inline void prefetch(const std::byte*, Index) {}
inline void stream_line(std::byte* target, const std::byte* source) { std::memcpy(target, source, kLineBytes); }
inline void stream_fence() {}
#endif

// Rows of this many bytes are read and written at two places.
inline constexpr Index kLeastHalved = Index{64} << 10;
// How far reads in a row are fetched ahead; where a cast reads several lines for each that it writes, farther.
inline constexpr Index kAheadInRow = 512;
inline constexpr Index kAheadInCast = 1024;

// Whole lines, each fetched `ahead` bytes before it is read.
inline void stream_lines(std::byte* target, const std::byte* source, Index bytes, Index ahead) {
  for (Index i = 0; i < bytes; i += kLineBytes) {
    prefetch(source + i, ahead);
    stream_line(target + i, source + i);
  }
}

// The same from two places side by side, which keeps more of the memory busy.
inline void stream_two(std::byte* target, std::byte* other_target, const std::byte* source,
                       const std::byte* other_source, Index bytes, Index ahead) {
  for (Index i = 0; i < bytes; i += kLineBytes) {
    prefetch(source + i, ahead);
    prefetch(other_source + i, ahead);
    stream_line(target + i, source + i);
    stream_line(other_target + i, other_source + i);
  }
}

// The first and the second half side by side: 1.2 times one after the other at 64 KiB and more. Two neighbouring pages
// side by side are slower than either.
inline void stream_halves(std::byte* target, const std::byte* source, Index bytes) {
  const Index half = bytes / kLineBytes / 2 * kLineBytes;
  stream_two(target, target + half, source, source + half, half, kAheadInRow);
  stream_lines(target + 2 * half, source + 2 * half, bytes - 2 * half, 0);
}

// Of any alignment. `ahead` is the distance to what will be read some 4 KiB later, in bytes.
inline void stream_row(std::byte* target, const std::byte* source, Index bytes, Index ahead) {
  const Index odd = static_cast<Index>(reinterpret_cast<std::uintptr_t>(target) % kLineBytes);
  const Index head = std::min(bytes, (kLineBytes - odd) % kLineBytes), body = (bytes - head) / kLineBytes * kLineBytes;
  std::memcpy(target, source, static_cast<std::size_t>(head));
  if (body >= kLeastHalved) {
    stream_halves(target + head, source + head, body);
  } else {
    stream_lines(target + head, source + head, body, ahead);
  }
  const Index done = head + body;
  std::memcpy(target + done, source + done, static_cast<std::size_t>(bytes - done));
}

}  // namespace reshard::kernel
