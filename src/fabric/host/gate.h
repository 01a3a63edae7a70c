// Lets one rank at a time through, threads and processes alike.
#pragma once

#include <atomic>
#include <cstdint>

#include "fabric/host/doorbell.h"

namespace reshard::fabric {

// Lies in memory that all ranks share. A rank that dies inside never opens the gate again: whoever waits must also end
// when a rank is lost, which is why `lost` is asked and ring() exists.
class Gate {
 public:
  // Returns whether the rank is inside; otherwise the deadline has passed or lost() is true.
  template <class Lost>
  bool enter(const Lost& lost, Clock::time_point deadline, int spins, const Duties& duties) {
    bool is_inside = false;
    const auto ready = [&] {
      std::uint32_t open = 0;  // acquires; pairs with the store in leave()
      is_inside = closed_.compare_exchange_strong(open, 1, std::memory_order_seq_cst);
      return is_inside || lost();
    };
    bell_.wait(ready, deadline, spins, duties);
    return is_inside;
  }
  // Leaves when it ends.
  class Leave {
   public:
    explicit Leave(Gate& gate) : gate_(gate) {}
    ~Leave() { gate_.leave(); }
    Leave(const Leave&) = delete;
    Leave& operator=(const Leave&) = delete;

   private:
    Gate& gate_;
  };
  void leave() {
    closed_.store(0, std::memory_order_seq_cst);  // releases, and comes before the look at the sleepers
    bell_.ring_sleepers();
  }
  // Wakes whoever waits, to look again whether a rank is lost, or asks for something.
  void ring() { bell_.ring(); }
  void ring_sleepers() { bell_.ring_sleepers(); }

 private:
  std::atomic<std::uint32_t> closed_{0};
  Doorbell bell_;
};

}  // namespace reshard::fabric
