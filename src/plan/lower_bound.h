// The least that a rank must receive, whatever the plan.
#pragma once

#include "reshard/region.h"

namespace reshard {

// Elements of `wanted` that are not in `held`.
Index elements_missing(const Region& held, const Region& wanted);

}  // namespace reshard
