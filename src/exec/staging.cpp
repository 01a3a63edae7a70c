#include "exec/staging.h"

#include <algorithm>

namespace reshard {

WindowId Staging::window_of(const std::vector<Index>& bytes, Endpoint& endpoint, Clock::time_point deadline) {
  bytes_.resize(bytes.size(), 0);
  bool grows = !window_;
  for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
    grows = grows || bytes[rank] > bytes_[rank];
    bytes_[rank] = std::max(bytes_[rank], bytes[rank]);
  }
  if (grows) {
    if (window_) endpoint.destroy_window(*window_, deadline);
    window_ = endpoint.create_window("staging", bytes_[static_cast<std::size_t>(endpoint.rank().value())], deadline);
  }
  return *window_;
}

}  // namespace reshard
