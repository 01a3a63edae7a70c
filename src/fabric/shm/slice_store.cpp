#include "fabric/shm/slice_store.h"

#include <algorithm>

#include "base/fail.h"
#include "fabric/shm/shared_pages.h"

namespace reshard::fabric {

SliceStore::SliceStore(Arena& arena, RankId rank) : arena_(arena), rank_(rank), slice_(arena.slice(rank)) {
  free_.emplace(0, static_cast<Index>(slice_.size()));
}

std::byte* SliceStore::allocate(Index bytes) {
  if (bytes == 0) return nullptr;
  const Index whole = bytes > static_cast<Index>(slice_.size()) ? bytes : round_to_pages(bytes);
  const auto piece = std::find_if(free_.begin(), free_.end(), [&](const auto& p) { return p.second >= whole; });
  if (piece == free_.end()) {
    Index left = 0;
    for (const auto& [at, size] : free_) left += size;
    fail(Code::io, "no room for {} bytes: {} of this rank's {} bytes of window space are free; raise window_space",
         bytes, left, slice_.size());
  }
  const auto [offset, size] = *piece;
  free_.erase(piece);
  if (size > whole) free_.emplace(offset + whole, size - whole);
  try {
    populate(slice_.data() + offset, static_cast<std::size_t>(whole));
  } catch (...) {
    release(slice_.data() + offset, whole);
    throw;
  }
  return slice_.data() + offset;
}

void SliceStore::release(std::byte* memory, Index bytes) {
  if (memory == nullptr) return;
  const Index whole = round_to_pages(bytes);
  arena_.discard(rank_, memory, whole);
  give_back(memory - slice_.data(), whole);
}

SliceStore::Exposed SliceStore::expose(std::span<std::byte> memory, Exposure how) {
  if (memory.empty()) return {};
  const auto pages = pages_of(memory);
  if (how == Exposure::in_place || !are_replaceable(pages)) {
    return {.place = reinterpret_cast<std::uintptr_t>(memory.data()), .is_private = true};
  }
  const auto bytes = static_cast<Index>(pages.size());
  std::byte* const piece = allocate(bytes);
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

void SliceStore::give_back(Index offset, Index bytes) {
  auto next = free_.upper_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(offset, bytes);
}

}  // namespace reshard::fabric
