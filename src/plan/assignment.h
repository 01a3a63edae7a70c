// The linear assignment problem, exactly.
#pragma once

#include <vector>

#include "reshard/index.h"

namespace reshard {

// A square table, row by row.
class Gains {
 public:
  explicit Gains(Index size) : size_(size), values_(static_cast<std::size_t>(size * size), 0) {}
  Index size() const { return size_; }
  Index& at(Index row, Index column) { return values_[row * size_ + column]; }
  Index at(Index row, Index column) const { return values_[row * size_ + column]; }

 private:
  Index size_;
  std::vector<Index> values_;
};

// The column of each row, every column once, with the greatest sum. Gains are at least 0, and the greatest of them
// times (size + 2) fits in 62 bits. O(size^3).
std::vector<Index> best_assignment(const Gains& gains);

}  // namespace reshard
