#include "program/check/clocks.h"

#include <algorithm>

namespace reshard::explore {

Clocks::Clocks(Index ranks, bool ordered_puts) : ranks_(static_cast<std::uint32_t>(ranks)) {
  clocks_.number_of(Words(ranks_ * (ordered_puts ? ranks_ + 2 : 2), 0));
}

ClockId Clocks::with(ClockId clock, std::uint32_t component, std::uint32_t value) {
  if (clocks_[clock][component] == value) return clock;
  Words changed = clocks_[clock];
  changed[component] = value;
  return clocks_.number_of(std::move(changed));
}

ClockId Clocks::join(ClockId a, ClockId b) {
  if (a == b || b == kNothing) return a;
  if (a == kNothing) return b;
  Words joined = clocks_[a];
  const Words& other = clocks_[b];
  for (std::size_t i = 0; i < joined.size(); ++i) joined[i] = std::max(joined[i], other[i]);
  return clocks_.number_of(std::move(joined));
}

}  // namespace reshard::explore
