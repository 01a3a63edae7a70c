// Stores that bypass the cache: a large copy then neither reads its target first nor throws out what the cache holds.
#pragma once

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

inline constexpr std::size_t kLine = kLineBytes;
inline constexpr std::size_t kPage = 4096;

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

// A hint: the address may lie anywhere.
inline void prefetch(const std::byte* source, Index ahead) {
  _mm_prefetch(
      reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(source) + static_cast<std::uintptr_t>(ahead)),
      _MM_HINT_T0);
}

// Two pages side by side keep more of the memory busy than one after the other: 1.3 to 1.6 times at 64 MiB and more.
inline void stream_two_pages(std::byte* target, const std::byte* source) {
  for (std::size_t i = 0; i < kPage; i += kLine) {
    prefetch(source + i, 2 * kPage);
    prefetch(source + i, 3 * kPage);
    stream_line(target + i, source + i);
    stream_line(target + kPage + i, source + kPage + i);
  }
}

// `next_row` is the distance to what will be read after this row, in bytes.
inline void stream_row(std::byte* target, const std::byte* source, std::size_t bytes, Index next_row) {
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(target) % kLine) % kLine;
  if (bytes < head + kLine) {
    std::memcpy(target, source, bytes);
    return;
  }
  std::memcpy(target, source, head);
  std::size_t done = head;
  for (; done + 2 * kPage <= bytes; done += 2 * kPage) stream_two_pages(target + done, source + done);
  for (; done + kLine <= bytes; done += kLine) {
    prefetch(source + done, next_row);
    stream_line(target + done, source + done);
  }
  std::memcpy(target + done, source + done, bytes - done);
}
inline void stream_fence() { _mm_sfence(); }
#else
inline constexpr bool kCanStream = false;
inline void stream_line(std::byte* target, const std::byte* source) { std::memcpy(target, source, kLineBytes); }
inline void prefetch(const std::byte*, Index) {}
inline void stream_row(std::byte* target, const std::byte* source, std::size_t bytes, Index) {
  std::memcpy(target, source, bytes);
}
inline void stream_fence() {}
#endif

}  // namespace reshard::kernel
