// Sleeping in the kernel on a 32-bit word that threads or processes share.
#pragma once

#include <atomic>
#include <cstdint>

#include "reshard/fabric.h"

namespace reshard::fabric {

// Sleeps while `word` holds `expected`, until woken or past the deadline; may also return for no reason.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, Clock::time_point deadline);
void futex_wake_all(const std::atomic<std::uint32_t>& word);

}  // namespace reshard::fabric
