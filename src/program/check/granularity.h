// How many bytes of each window are one cell of the explored memory: as many as all operations move as one.
#pragma once

#include <span>
#include <vector>

#include "reshard/check.h"
#include "reshard/program.h"

namespace reshard::explore {

class Granularity {
 public:
  explicit Granularity(std::span<const WindowSpec> windows);

  // Makes cells as small as the operation needs, and of one size in windows between which it copies; true where that
  // changed a size.
  bool observe(const Operation& operation);
  void observe(std::span<const Expectation> expectations, std::span<const WindowSpec> windows);
  // Integers of this window are read one by one.
  void cut(int window, Index bytes);
  Index cell_bytes(int window) const { return bytes_[root(window)]; }

 private:
  std::size_t root(int window) const;
  void unite(int a, int b);
  void observe(const Operand& operand, std::span<const Index> counts, Index element_bytes);
  std::vector<std::size_t> parent_;
  std::vector<Index> bytes_;
  bool changed_ = false;
};

}  // namespace reshard::explore
