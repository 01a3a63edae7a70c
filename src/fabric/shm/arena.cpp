#include "fabric/shm/arena.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"
#include "fabric/host/window_store.h"

namespace reshard::fabric {
namespace {

constexpr Index kLeastSlice = Index{1} << 20;

}  // namespace

std::vector<MemoryFile> make_files(Index count, Index state_bytes, Index slice_bytes) {
  const Index state = round_to_pages(state_bytes);
  const Index most = round_to_pages(std::numeric_limits<Index>::max()) - state;
  for (Index slice = std::min(round_to_pages(slice_bytes), most);; slice = round_to_pages(slice / 2)) {
    try {
      std::vector<MemoryFile> files;
      for (Index r = 0; r < count; ++r) files.emplace_back(state + slice);
      return files;
    } catch (const Error& error) {
      if (slice > kLeastSlice) continue;
      fail(Code::io, "cannot map shared memory for {} ranks of {} bytes each: {}", count, slice, error.what());
    }
  }
}

Arena::Arena(Index ranks, Index state_bytes, Index slice_bytes)
    : Arena(make_files(ranks, state_bytes, slice_bytes), state_bytes) {}

Arena::Arena(std::vector<MemoryFile> files, Index state_bytes)
    : files_(std::move(files)), state_bytes_(round_to_pages(state_bytes)) {}

std::span<std::byte> Arena::slice(RankId rank) {
  const MemoryFile& file = this->file(rank);
  return {file.base() + state_bytes_, static_cast<std::size_t>(file.bytes() - state_bytes_)};
}

void Arena::discard(RankId rank, std::byte* memory, Index bytes) {
  MemoryFile& file = files_[static_cast<std::size_t>(rank.value())];
  file.discard(memory - file.base(), bytes);
}

Index Arena::resident_bytes() const {
  Index all = 0;
  for (const MemoryFile& file : files_) all += file.resident_bytes();
  return all;
}

}  // namespace reshard::fabric
