#include "format/output_fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/fail.h"

namespace reshard {

void write_at(int fd, Index offset, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(Code::io, "{}: cannot write at byte {}: {}", path, offset, std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(n));
    offset += n;
  }
}

void publish(int fd, const std::string& partial, const std::string& path) {
  if (fsync(fd) != 0) fail(Code::io, "{}: cannot fsync: {}", partial, std::strerror(errno));
  if (std::rename(partial.c_str(), path.c_str()) != 0) {
    fail(Code::io, "cannot rename {} to {}: {}", partial, path, std::strerror(errno));
  }
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const int folder = open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) fail(Code::io, "{}: cannot open: {}", parent, std::strerror(errno));
  const bool synced = fsync(folder) == 0 || errno == EINVAL;  // some file systems cannot sync a folder
  const int error = errno;
  close(folder);
  if (!synced) fail(Code::io, "{}: cannot fsync: {}", parent, std::strerror(error));
}

}  // namespace reshard
