#include "convert/shared_state.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "base/fail.h"

namespace reshard::convert_detail {

SharedState::SharedState(std::size_t files) {
  static_assert(std::atomic<Index>::is_always_lock_free);
  const std::size_t count = 3 * files + 3;
  void* memory =
      ::mmap(nullptr, count * sizeof(std::atomic<Index>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(Code::io, "mapping {} shared counters failed: {}", count, std::strerror(errno));
  counters_ = {new (memory) std::atomic<Index>[count](), count};
}

SharedState::~SharedState() { ::munmap(counters_.data(), counters_.size_bytes()); }

}  // namespace reshard::convert_detail
