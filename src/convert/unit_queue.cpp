#include "convert/unit_queue.h"

namespace reshard::convert_detail {

UnitQueue::UnitQueue(const Job& job, SharedState& shared) : job_(job), shared_(shared) {
  Index first = 0;
  for (const Index units : job.units_of) {
    first_.push_back(first);
    first += units;
  }
}

const Unit* UnitQueue::next() {
  while (true) {
    if (file_ < 0) {
      file_ = least_busy();
      if (file_ < 0) return nullptr;
      ++shared_.writers(file_);
    }
    const auto file = static_cast<std::size_t>(file_);
    const Index unit = shared_.units_taken(file_)++;
    if (unit < job_.units_of[file]) return &job_.units[static_cast<std::size_t>(first_[file] + unit)];
    --shared_.writers(file_);
    file_ = -1;
  }
}

int UnitQueue::least_busy() const {
  int best = -1;
  Index fewest = 0;
  for (int file = 0; file < std::ssize(job_.units_of); ++file) {
    if (shared_.units_taken(file) >= job_.units_of[static_cast<std::size_t>(file)]) continue;
    const Index writers = shared_.writers(file);
    if (best >= 0 && writers >= fewest) continue;
    best = file;
    fewest = writers;
  }
  return best;
}

}  // namespace reshard::convert_detail
