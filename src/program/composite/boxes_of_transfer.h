// The boxes of a transfer one by one, as slices.
#pragma once

#include <vector>

#include "program/composite/operand.h"
#include "reshard/plan.h"

namespace reshard {

// Half open, per dimension.
struct LocalRun {
  Index from = 0;
  Index to = 0;
};
struct TransferBox {
  std::vector<LocalRun> source;
  std::vector<LocalRun> target;
};

std::vector<TransferBox> boxes_of(const Transfer& transfer);
SliceRef part_of(const CompositeOperand& whole, const std::vector<LocalRun>& box);

}  // namespace reshard
