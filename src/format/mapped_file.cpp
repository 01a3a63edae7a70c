#include "format/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/fail.h"

namespace reshard {

MappedFile::State::~State() {
  if (begin != nullptr) munmap(begin, bytes);
  if (fd >= 0) close(fd);
}

MappedFile::MappedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
MappedFile::MappedFile(MappedFile&&) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&&) noexcept = default;
MappedFile::~MappedFile() = default;

MappedFile MappedFile::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  // Non-blocking, so that a pipe in the place of a file is refused instead of waited for.
  state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (state->fd < 0) fail(Code::io, "{}: cannot open: {}", path, std::strerror(errno));
  struct stat info = {};
  if (fstat(state->fd, &info) != 0) fail(Code::io, "{}: cannot stat: {}", path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail(Code::io, "{}: not a regular file", path);
  state->bytes = static_cast<std::size_t>(info.st_size);
  state->modified = info.st_mtim;
  if (state->bytes > 0) {
    void* memory = mmap(nullptr, state->bytes, PROT_READ, MAP_SHARED, state->fd, 0);
    if (memory == MAP_FAILED) fail(Code::io, "{}: cannot map {} bytes: {}", path, state->bytes, std::strerror(errno));
    state->begin = static_cast<std::byte*>(memory);
  }
  return MappedFile(std::move(state));
}

const std::string& MappedFile::path() const { return state_->path; }

std::span<const std::byte> MappedFile::bytes() const {
  return state_ ? std::span<const std::byte>(state_->begin, state_->bytes) : std::span<const std::byte>();
}

void MappedFile::check() const {
  struct stat now = {};
  if (fstat(state_->fd, &now) != 0) fail(Code::io, "{}: cannot stat: {}", path(), std::strerror(errno));
  const auto bytes = static_cast<std::size_t>(now.st_size);
  if (bytes < state_->bytes || state_->faulted.load(std::memory_order_acquire)) {
    fail(Code::corrupt, "{} shrank while it was read: {} bytes when opened, {} now", path(), state_->bytes, bytes);
  }
  const auto& was = state_->modified;
  if (bytes != state_->bytes || now.st_mtim.tv_sec != was.tv_sec || now.st_mtim.tv_nsec != was.tv_nsec) {
    fail(Code::corrupt, "{} was modified while it was read; read it again when its writer is done", path());
  }
}

}  // namespace reshard
