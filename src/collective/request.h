// What a collective operation asks of its base.
#pragma once

#include <functional>
#include <string>

#include "collective/job.h"
#include "reshard/collective.h"

namespace reshard::collective {

struct Request {
  std::string call;            // in words: what the ranks compare
  std::function<Job()> job;    // throws where the arguments make none
  bool shares_window = false;  // of its own it has one, for input and output
};

}  // namespace reshard::collective
