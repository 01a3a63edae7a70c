#include "convert/unit_queue.h"

namespace reshard::convert_detail {

const Unit* UnitQueue::next() {
  while (true) {
    if (file_ < 0) {
      file_ = least_busy();
      if (file_ < 0) return nullptr;
      ++shared_.writers(file_);
    }
    const std::vector<Unit>& of_file = units_[static_cast<std::size_t>(file_)];
    const Index unit = shared_.units_taken(file_)++;
    if (unit < std::ssize(of_file)) return &of_file[static_cast<std::size_t>(unit)];
    --shared_.writers(file_);
    file_ = -1;
  }
}

int UnitQueue::least_busy() const {
  int best = -1;
  Index fewest = 0;
  for (int file = 0; file < std::ssize(units_); ++file) {
    if (shared_.units_taken(file) >= std::ssize(units_[static_cast<std::size_t>(file)])) continue;
    const Index writers = shared_.writers(file);
    if (best >= 0 && writers >= fewest) continue;
    best = file;
    fewest = writers;
  }
  return best;
}

}  // namespace reshard::convert_detail
