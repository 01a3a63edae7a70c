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

// Shorter rows gain nothing: their partial cache lines at both ends cost more than is saved.
inline constexpr Index kLeastStreamedRow = 512;

#if defined(__x86_64__)
inline constexpr bool kCanStream = true;

// SSE2, which every x86-64 has: a full line in flight is the same whether written by four stores or by one.
inline void stream_row(std::byte* target, const std::byte* source, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(target) % kLine) % kLine;
  if (bytes < head + kLine) {
    std::memcpy(target, source, bytes);
    return;
  }
  std::memcpy(target, source, head);
  std::size_t done = head;
  for (; done + kLine <= bytes; done += kLine) {
    const auto* from = reinterpret_cast<const __m128i*>(source + done);
    auto* to = reinterpret_cast<__m128i*>(target + done);
    const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  std::memcpy(target + done, source + done, bytes - done);
}
inline void stream_fence() { _mm_sfence(); }
#else
inline constexpr bool kCanStream = false;
inline void stream_row(std::byte* target, const std::byte* source, std::size_t bytes) {
  std::memcpy(target, source, bytes);
}
inline void stream_fence() {}
#endif

}  // namespace reshard::kernel
