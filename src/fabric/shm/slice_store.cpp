#include "fabric/shm/slice_store.h"

#include <cstring>

#include "base/fail.h"
#include "fabric/shm/shared_pages.h"

namespace reshard::fabric {

SliceStore::SliceStore(Arena& arena, RankId rank, Index kept_memory)
    : arena_(arena), rank_(rank), slice_(arena.slice(rank)), kept_memory_(kept_memory) {
  free_.give_back(0, static_cast<Index>(slice_.size()));
}

std::byte* SliceStore::allocate(Index bytes) { return allocate(bytes, Contents::zero); }

std::byte* SliceStore::allocate(Index bytes, Contents contents) {
  if (bytes == 0) return nullptr;
  const Index whole = bytes > static_cast<Index>(slice_.size()) ? bytes : round_to_pages(bytes);
  if (const auto offset = kept_.take(whole)) {
    std::byte* const memory = slice_.data() + *offset;
    if (contents == Contents::zero) std::memset(memory, 0, static_cast<std::size_t>(whole));
    return memory;
  }
  if (const auto offset = free_.take(whole)) return populated(*offset, whole);
  discard_kept();
  if (const auto offset = free_.take(whole)) return populated(*offset, whole);
  fail(Code::io, "no room for {} bytes: {} of this rank's {} bytes of window space are free; raise window_space", bytes,
       free_.bytes(), slice_.size());
}

std::byte* SliceStore::populated(Index offset, Index bytes) {
  std::byte* const memory = slice_.data() + offset;
  try {
    populate(memory, static_cast<std::size_t>(bytes));
  } catch (...) {
    arena_.discard(rank_, memory, bytes);
    free_.give_back(offset, bytes);
    throw;
  }
  return memory;
}

void SliceStore::release(std::byte* memory, Index bytes) {
  if (memory == nullptr) return;
  const Index whole = round_to_pages(bytes);
  const Index offset = memory - slice_.data();
  if (whole <= kept_memory_ - kept_.bytes()) return kept_.give_back(offset, whole);
  arena_.discard(rank_, memory, whole);
  free_.give_back(offset, whole);
}

void SliceStore::discard_kept() {
  for (const auto& [offset, bytes] : kept_.take_all()) {
    arena_.discard(rank_, slice_.data() + offset, bytes);
    free_.give_back(offset, bytes);
  }
}

SliceStore::Exposed SliceStore::expose(std::span<std::byte> memory, Exposure how) {
  if (memory.empty()) return {};
  const auto pages = pages_of(memory);
  if (how == Exposure::in_place || !are_replaceable(pages)) {
    return {.place = reinterpret_cast<std::uintptr_t>(memory.data()), .is_private = true};
  }
  const auto bytes = static_cast<Index>(pages.size());
  std::byte* const piece = allocate(bytes, Contents::any);
  const MemoryFile& file = arena_.file(rank_);
  try {
    share_pages(pages, piece, file.descriptor(), piece - file.base());
  } catch (...) {
    release(piece, bytes);
    throw;
  }
  return {.place = place_of(piece) + static_cast<std::uint64_t>(memory.data() - pages.data())};
}

void SliceStore::conceal(std::span<std::byte> memory, const Exposed& exposed) {
  if (memory.empty() || exposed.is_private) return;
  const auto pages = pages_of(memory);
  unshare_pages(pages);
  release(find(rank_, exposed.place) - (memory.data() - pages.data()), static_cast<Index>(pages.size()));
}

std::uint64_t SliceStore::place_of(const std::byte* memory) const {
  return memory == nullptr ? 0 : static_cast<std::uint64_t>(memory - slice_.data());
}

}  // namespace reshard::fabric
