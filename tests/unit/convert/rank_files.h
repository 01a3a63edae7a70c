// What each rank's file must hold, found without plans: by dealing out elements one by one.
#pragma once

#include "models.h"

namespace reshard::test {

// Every element of every rank file of `folder` is the model's element that the oracle puts there, padding is zero, and
// nothing is missing or left over.
void expect_rank_files(const std::string& folder, const SmallModel& model);

}  // namespace reshard::test
