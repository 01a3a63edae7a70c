// The reductions of one rank's program, laid out as the kernel takes them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernel/reduce.h"
#include "reshard/executor.h"

namespace reshard {

class Executor::Folds {
 public:
  // Appends the reductions of a `reduce` whose operands fit their windows and whose dtype has the op.
  void add(const Operation& operation);
  std::size_t size() const { return folds_.size(); }
  void clear() { folds_.clear(); }
  // How many terms and results lie in the window.
  std::size_t uses_of(int window) const;
  // Runs reductions [first, first + count) on this rank's windows. Allocates nothing.
  void run(std::size_t first, std::size_t count, std::span<const std::span<std::byte>> windows);

 private:
  struct Fold {
    FoldKernel kernel;
    Index divisor;
    std::vector<Index> counts;
    std::vector<Index> result_steps;
    std::vector<Index> term_steps;  // per loop, per term
    Operand result;
    std::vector<Operand> terms;
  };
  std::vector<Fold> folds_;
  std::vector<FoldRow> rows_;  // as many as the most terms of a fold
};

}  // namespace reshard
