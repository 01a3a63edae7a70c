#include "convert/source_state.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/fail.h"

namespace reshard::convert_detail {

std::vector<std::string> source_state(const Checkpoint& checkpoint) {
  std::vector<std::string> state;
  for (int file = 0; file < std::ssize(checkpoint.files()); ++file) {
    const std::string path = checkpoint.path_of(file);
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) fail(Code::io, "{}: cannot stat: {}", path, std::strerror(errno));
    state.push_back(fmt::format("{} {}:{} {} {}.{:09}", path, status.st_dev, status.st_ino, status.st_size,
                                status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
  }
  return state;
}

void require_unchanged(const Checkpoint& checkpoint, const std::vector<std::string>& before) {
  const std::vector<std::string> now = source_state(checkpoint);
  for (std::size_t file = 0; file < now.size(); ++file)
    if (now[file] != before[file])
      fail(Code::corrupt, "{} was modified while it was converted; convert again when its writer is done",
           checkpoint.path_of(static_cast<int>(file)));
}

}  // namespace reshard::convert_detail
