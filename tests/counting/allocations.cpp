#include "counting/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> counted_allocations{0};
thread_local long own_counted_allocations = 0;

void* counted_memory(std::size_t bytes, std::size_t alignment) noexcept {
  ++counted_allocations;
  ++own_counted_allocations;
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(bytes)
             : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* memory = counted_memory(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// Were one of a pair inlined without the other, gcc would take them for mismatched.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted_or_throw(bytes, 1); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return counted_or_throw(bytes, 1); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, std::size_t(alignment));
}
// The standard library's sorts ask for their buffers in this form.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted_memory(bytes, 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace reshard {

long allocations() { return counted_allocations; }
long own_allocations() { return own_counted_allocations; }

}  // namespace reshard
