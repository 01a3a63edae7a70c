// The scratch window that all programs of a world share: they run one after another.
#pragma once

#include <optional>
#include <vector>

#include "reshard/fabric.h"

namespace reshard {

class Staging {
 public:
  // Collective when the window must grow, which all ranks know: `bytes` has the need of every rank and is the same
  // everywhere. Valid until the next call.
  WindowId window_of(const std::vector<Index>& bytes, Endpoint& endpoint, Clock::time_point deadline);

 private:
  std::optional<WindowId> window_;
  std::vector<Index> bytes_;
};

}  // namespace reshard
