#include "fabric/shm/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fail.h"

namespace reshard::fabric {

MemoryFile::MemoryFile(Index bytes) : descriptor_(::memfd_create("reshard", MFD_CLOEXEC)), bytes_(bytes) {
  if (descriptor_ < 0) fail(Code::io, "cannot create shared memory: {}", std::strerror(errno));
  if (::ftruncate(descriptor_, bytes) != 0) {
    const int error = errno;
    ::close(descriptor_);
    fail(Code::io, "cannot set aside {} bytes of shared memory: {}", bytes, std::strerror(error));
  }
  map();
}

MemoryFile::MemoryFile(pid_t owner, int descriptor, Index bytes) : bytes_(bytes) {
  const auto path = fmt::format("/proc/{}/fd/{}", owner, descriptor);
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor_ < 0) {
    fail(Code::io,
         "cannot open the memory of process {} ({}): {}; processes that share memory need one user and one "
         "view of /proc",
         owner, path, std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != bytes) {
    ::close(descriptor_);
    fail(Code::io, "{} is not the memory that process {} told of", path, owner);
  }
  map();
}

MemoryFile::~MemoryFile() {
  if (base_ != nullptr) ::munmap(base_, static_cast<std::size_t>(bytes_));
  if (descriptor_ >= 0) ::close(descriptor_);
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      base_(std::exchange(other.base_, nullptr)) {}

void MemoryFile::map() {
  void* const got = ::mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (got == MAP_FAILED) {
    const int error = errno;
    ::close(descriptor_);
    fail(Code::io, "cannot map {} bytes of shared memory: {}", bytes_, std::strerror(error));
  }
  base_ = static_cast<std::byte*>(got);
}

void MemoryFile::discard(Index offset, Index bytes) {
  if (::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes) == 0) return;
  fail(Code::io, "cannot free {} bytes of shared memory: {}", bytes, std::strerror(errno));
}

Index MemoryFile::resident_bytes() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail(Code::io, "cannot query shared memory: {}", std::strerror(errno));
  return static_cast<Index>(status.st_blocks) * 512;
}

}  // namespace reshard::fabric
