#include "fabric/thread/heap_store.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/fail.h"

namespace reshard::fabric {
namespace {

constexpr std::size_t kMapped = std::size_t{1} << 20;  // from here on, map
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::align_val_t kAlignment{64};

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Aligned to huge pages, by mapping one more than needed and cutting off both ends.
std::byte* map_pages(std::size_t bytes) {
  const auto kept = static_cast<std::size_t>(round_to_pages(static_cast<Index>(bytes)));
  const std::size_t whole = kept + kHugePage;
  void* got = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) fail(Code::io, "cannot map {} bytes: {}", bytes, std::strerror(errno));
  auto* const begin = static_cast<std::byte*>(got);
  const std::size_t skipped =
      round_up(reinterpret_cast<std::uintptr_t>(begin), kHugePage) - reinterpret_cast<std::uintptr_t>(begin);
  if (skipped > 0) ::munmap(begin, skipped);
  std::byte* const memory = begin + skipped;
  if (whole - skipped > kept) ::munmap(memory + kept, whole - skipped - kept);
  ::madvise(memory, kept, MADV_HUGEPAGE);  // advice: may be refused
  return memory;
}

void free_block(std::byte* memory, std::size_t bytes) {
  if (bytes < kMapped) {
    ::operator delete(memory, kAlignment);
  } else {
    ::munmap(memory, static_cast<std::size_t>(round_to_pages(static_cast<Index>(bytes))));
  }
}

}  // namespace

HeapStore::~HeapStore() {
  for (const auto& [memory, bytes] : held_) free_block(memory, static_cast<std::size_t>(bytes));
  for (const auto& [bytes, memory] : kept_) free_block(memory, static_cast<std::size_t>(bytes));
}

std::byte* HeapStore::allocate(Index bytes) {
  if (bytes == 0) return nullptr;
  const auto size = static_cast<std::size_t>(bytes);
  std::byte* memory = nullptr;
  if (size < kMapped) {
    memory = static_cast<std::byte*>(::operator new(size, kAlignment));
    std::memset(memory, 0, size);
  } else if ((memory = take_kept(bytes)) != nullptr) {
    std::memset(memory, 0, size);
  } else {
    memory = map_pages(size);
    try {
      populate(memory, size);
    } catch (...) {
      free_block(memory, size);
      throw;
    }
  }
  held_.emplace(memory, bytes);
  return memory;
}

void HeapStore::release(std::byte* memory, Index bytes) {
  if (held_.erase(memory) == 0) return;
  const Index pages = round_to_pages(bytes);
  if (static_cast<std::size_t>(bytes) < kMapped || pages > kept_memory_ - kept_bytes_) {
    free_block(memory, static_cast<std::size_t>(bytes));
    return;
  }
  kept_.emplace(pages, memory);
  kept_bytes_ += pages;
}

// Null: there is none of the size.
std::byte* HeapStore::take_kept(Index bytes) {
  const auto found = kept_.find(round_to_pages(bytes));
  if (found == kept_.end()) return nullptr;
  std::byte* const memory = found->second;
  kept_bytes_ -= found->first;
  kept_.erase(found);
  return memory;
}

}  // namespace reshard::fabric
