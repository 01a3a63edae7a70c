// A half-open interval of an axis that is neither the whole tensor nor one rank's memory: between two cuts.
#pragma once

#include "reshard/index.h"

namespace reshard {

struct Interval {
  Index begin = 0;
  Index length = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace reshard
