#include "exec/staging.h"

#include <algorithm>

namespace reshard {

WindowId Staging::window_of(const std::vector<Index>& bytes, Endpoint& endpoint, Clock::time_point deadline) {
  std::vector<Index> wanted = bytes_;
  wanted.resize(bytes.size(), 0);
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) wanted[rank] = std::max(wanted[rank], bytes[rank]);
  if (window_ && wanted == bytes_) return *window_;
  if (window_) endpoint.destroy_window(*window_, deadline);
  window_.reset();
  window_ = endpoint.create_window("staging", wanted[static_cast<std::size_t>(endpoint.rank().value())], deadline);
  bytes_ = std::move(wanted);
  return *window_;
}

}  // namespace reshard
