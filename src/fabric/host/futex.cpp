#include "fabric/host/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace reshard::fabric {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

// Not FUTEX_PRIVATE_FLAG: the same code serves processes, and the flag is worth less than the wake it accompanies.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Clock::time_point deadline) {
  // steady_clock is CLOCK_MONOTONIC, the clock by which FUTEX_WAIT_BITSET takes absolute time-outs.
  const auto since_epoch = deadline.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const timespec until{static_cast<time_t>(seconds.count()), static_cast<long>((since_epoch - seconds).count())};
  if (until.tv_sec < 0) return;
  ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, expected, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake_all(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace reshard::fabric
