// How a rank waits: it checks a few times, then yields its core a few times, then sleeps until rung.
//
// More ranks than cores is normal, and there a pure spin costs whole scheduler ticks (4 ms) per wait, while about 20
// yields cost 2 us and catch nearly every wait before it has to sleep (7 us).
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "fabric/host/duties.h"
#include "fabric/host/futex.h"

namespace reshard::fabric {

inline void relax_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Lies in memory that all ranks share. The waiter's condition is some other atomic: whoever changes that stores it with
// seq_cst and then calls ring_sleepers.
//
// No wake-up is lost: the waiter announces itself in sleepers_ and then looks at the condition, the notifier changes
// the condition and then looks at sleepers_, all seq_cst, so at least one sees the other. If the notifier sees the
// sleeper it changes rings_ before it wakes, and a waiter that read rings_ before that does not fall asleep.
class Doorbell {
 public:
  // Returns whether ready() came true before the deadline. `ready` loads with seq_cst.
  template <class Ready>
  bool wait(const Ready& ready, Clock::time_point deadline, int spins, const Duties& duties) {
    const auto look = [&] {
      if (duties.service != nullptr) duties.service->serve();
      return ready();
    };
    for (int i = 0; spins > 0 && i < kEagerLooks; ++i)
      if (look()) return true;
    for (int i = 1; i <= spins; ++i) {
      if (look()) return true;
      i % kSpinsPerYield == 0 ? void(sched_yield()) : relax_core();
    }
    for (int i = 0; i < kYields; ++i) {
      if (look()) return true;
      sched_yield();
    }
    return sleep(look, deadline, duties.watch);
  }

  // For whoever waits for rings and for something else too, and looks at both between calls: sleeps until rung or
  // `until`. A ring since the last call counts: the first call, and the first after one that was rung, only arms the
  // bell and returns, for the caller to look once more. An armed bell costs one notifier one system call.
  struct Heard {
    bool is_armed = false;
    std::uint32_t rings = 0;
  };
  void sleep_armed(Heard& heard, Clock::time_point until) {
    if (!heard.is_armed) {
      heard = {true, rings_.load(std::memory_order_seq_cst)};  // pairs with the fetch_add in ring()
      sleepers_.fetch_or(kArmed, std::memory_order_seq_cst);   // pairs with the load in ring_sleepers()
      return;
    }
    futex_wait(rings_, heard.rings, until);
    heard.is_armed = rings_.load(std::memory_order_seq_cst) == heard.rings;
  }

  // A system call only if somebody sleeps.
  void ring_sleepers() {
    const std::uint32_t sleepers = sleepers_.load(std::memory_order_seq_cst);  // pairs with sleep() and sleep_armed()
    if (sleepers == 0) return;
    if ((sleepers & kArmed) != 0) sleepers_.fetch_and(~kArmed, std::memory_order_relaxed);
    ring();
  }
  void ring() {
    rings_.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load of rings_ in sleep()
    futex_wake_all(rings_);
  }

 private:
  static constexpr int kYields = 20;
  // Without a pause between them, which is as long as half the way of a notification.
  static constexpr int kEagerLooks = 100;
  // The peer may be on this core, although there are enough.
  static constexpr int kSpinsPerYield = 32;
  static constexpr std::uint32_t kArmed = std::uint32_t{1} << 31;

  template <class Ready>
  bool sleep(const Ready& ready, Clock::time_point deadline, Watch* watch) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load in ring_sleepers()
    bool is_ready = false;
    for (;;) {
      const std::uint32_t rings = rings_.load(std::memory_order_seq_cst);  // pairs with the fetch_add in ring()
      is_ready = ready();
      if (is_ready || Clock::now() >= deadline) break;
      futex_wait(rings_, rings, watch == nullptr ? deadline : std::min(deadline, watch->look()));
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);  // a late ring costs one system call, nothing else
    return is_ready;
  }

  std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> sleepers_{0};  // how many, and kArmed
};

}  // namespace reshard::fabric
