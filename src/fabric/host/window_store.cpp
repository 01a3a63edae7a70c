#include "fabric/host/window_store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "base/fail.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace reshard::fabric {

Index round_to_pages(Index bytes) {
  static const Index page = ::sysconf(_SC_PAGESIZE);
  const Index most = std::numeric_limits<Index>::max() / page * page;
  return bytes > most ? most : (bytes + page - 1) / page * page;
}

void populate(std::byte* memory, std::size_t bytes) {
  int error = 0;
  do {
    error = ::madvise(memory, bytes, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
  } while (error == EINTR || error == EAGAIN);
  // EINVAL: Linux before 5.14 does not know the call; pages then appear at first touch.
  if (error != 0 && error != EINVAL) fail(Code::io, "cannot get {} bytes of memory: {}", bytes, std::strerror(error));
}

}  // namespace reshard::fabric
