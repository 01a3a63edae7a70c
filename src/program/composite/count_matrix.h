// Counts, and what else ranks must agree on before data moves: all ranks gather all of it and judge the same numbers,
// so that all move or none does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "program/composite/writer.h"

namespace reshard {

// Numbers that must lie in [0, most]: `least` and `greatest` have a row from each rank with one for each destination.
struct JudgedNumbers {
  SliceRef least;
  SliceRef greatest;
  Expression most;
  std::string what;      // in front of "from rank 1 to rank 0": "count", "index"
  std::string too_much;  // behind it: "exceeds capacity C = {C}"
};

// A row for each rank of what every rank has in its window `send`.
BufferRef gather_rows(CompositeWriter& w, const std::string& name, const CompositeOperand& send);

class Verdict {
 public:
  // Writes what folds the numbers.
  Verdict(CompositeWriter& w, std::vector<JudgedNumbers> judged, Dtype dtype);
  const Expression& holds() const { return holds_; }
  // The call fails on all ranks alike, with a message that names the first number at fault.
  void require_it() const;

 private:
  CompositeWriter& w_;
  std::vector<JudgedNumbers> judged_;
  Expression holds_ = 1;
};

// The rows each destination has in [P * rows, ..].
Expression rows_per_rank(CompositeWriter& w, const CompositeOperand& operand);

}  // namespace reshard
