// Vector clocks, by number. What a clock knows of each rank: how many of its steps, how many of its fences (a put is
// done once the fence behind it is known), and, on an ordered network, how many puts each pair of ranks has delivered.
#pragma once

#include <vector>

#include "program/check/interner.h"
#include "reshard/index.h"

namespace reshard::explore {

using ClockId = std::uint32_t;

class Clocks {
 public:
  Clocks(Index ranks, bool ordered_puts);

  static constexpr ClockId kNothing = 0;
  std::uint32_t steps(ClockId clock, std::uint32_t rank) const { return clocks_[clock][rank]; }
  std::uint32_t fences(ClockId clock, std::uint32_t rank) const { return clocks_[clock][ranks_ + rank]; }
  std::uint32_t puts(ClockId clock, std::uint32_t from, std::uint32_t to) const {
    return clocks_[clock][2 * ranks_ + from * ranks_ + to];
  }
  ClockId with_steps(ClockId clock, std::uint32_t rank, std::uint32_t steps) { return with(clock, rank, steps); }
  ClockId with_fences(ClockId clock, std::uint32_t rank, std::uint32_t fences) {
    return with(clock, ranks_ + rank, fences);
  }
  ClockId with_puts(ClockId clock, std::uint32_t from, std::uint32_t to, std::uint32_t puts) {
    return with(clock, 2 * ranks_ + from * ranks_ + to, puts);
  }
  // What either knows.
  ClockId join(ClockId a, ClockId b);

 private:
  using Words = std::vector<std::uint32_t>;
  ClockId with(ClockId clock, std::uint32_t component, std::uint32_t value);
  std::uint32_t ranks_;
  Interner<Words, HashWords> clocks_;
};

}  // namespace reshard::explore
