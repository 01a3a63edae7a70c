// How a rank gets the terms of its target and folds them.
#pragma once

#include <vector>

#include "program/terms.h"
#include "reshard/program.h"

namespace reshard {

// Windows of a program that moves a tensor.
inline constexpr int kSourceWindow = 0, kTargetWindow = 1, kStagingWindow = 2;

// The gets and reduces of one part, piece by piece, in order. A part has all its terms, and two at least. The caller
// waits for their owners before and tells them after. `turn` chooses whose term is read first.
std::vector<Operation> reduce_operations(const Layout& source, const Layout& target, const Fold& fold, const Part& part,
                                         Index staging_limit, Index turn);

// Writes the identity of `op` to every element that `rank` holds of the target.
Operation fill_operation(const Layout& target, ReduceOp op, RankId rank);

}  // namespace reshard
