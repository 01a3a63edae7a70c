#include "fabric/shm/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "base/fail.h"
#include "fabric/host/window_store.h"

namespace reshard::fabric {
namespace {

constexpr Index kLeastSlice = Index{1} << 20;

// Nothing if the address space has no room.
std::byte* map_shared(int file, Index bytes) {
  if (::ftruncate(file, bytes) != 0) return nullptr;
  void* got =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  return got == MAP_FAILED ? nullptr : static_cast<std::byte*>(got);
}

std::optional<Index> total_bytes(Index ranks, Index state_bytes, Index slice_bytes) {
  Index total = 0;
  if (__builtin_mul_overflow(ranks, slice_bytes, &total) || __builtin_add_overflow(total, state_bytes, &total))
    return {};
  return total;
}

}  // namespace

Arena::Arena(Index ranks, Index state_bytes, Index slice_bytes)
    : state_bytes_(round_to_pages(state_bytes)), slice_bytes_(round_to_pages(slice_bytes)) {
  file_ = ::memfd_create("reshard", MFD_CLOEXEC);
  if (file_ < 0) fail(Code::io, "cannot create shared memory: {}", std::strerror(errno));
  for (;; slice_bytes_ = round_to_pages(slice_bytes_ / 2)) {
    if (const auto total = total_bytes(ranks, state_bytes_, slice_bytes_)) {
      mapped_bytes_ = *total;
      base_ = map_shared(file_, mapped_bytes_);
    }
    if (base_ != nullptr) return;
    if (slice_bytes_ <= kLeastSlice) break;
  }
  const int error = errno;
  ::close(file_);
  fail(Code::io, "cannot map shared memory for {} ranks of {} bytes each: {}", ranks, slice_bytes_,
       std::strerror(error));
}

Arena::~Arena() {
  ::munmap(base_, static_cast<std::size_t>(mapped_bytes_));
  ::close(file_);
}

std::span<std::byte> Arena::slice(RankId rank) {
  return {base_ + state_bytes_ + rank.value() * slice_bytes_, static_cast<std::size_t>(slice_bytes_)};
}

void Arena::discard(std::byte* memory, Index bytes) {
  if (::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, memory - base_, bytes) == 0) return;
  fail(Code::io, "cannot free {} bytes of shared memory: {}", bytes, std::strerror(errno));
}

Index Arena::resident_bytes() const {
  struct stat status {};
  if (::fstat(file_, &status) != 0) fail(Code::io, "cannot query shared memory: {}", std::strerror(errno));
  return static_cast<Index>(status.st_blocks) * 512;
}

}  // namespace reshard::fabric
