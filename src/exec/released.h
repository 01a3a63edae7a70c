// Tensors that this rank has let go of and whose windows still exist.
#pragma once

#include <cstdint>
#include <vector>

#include "reshard/tensor.h"

namespace reshard {

class Tensor::Released {
 public:
  void add(std::int64_t number) noexcept;
  void remove(std::int64_t number);
  // Ascending.
  const std::vector<std::int64_t>& numbers() const { return numbers_; }
  // Room for one more, so that `add` does not throw.
  void expect_one_more();

 private:
  std::vector<std::int64_t> numbers_;
  std::size_t live_ = 0;
};

}  // namespace reshard
