// Moves many tensors together, again and again: all tensors of a model from their training layouts to those that serve.
//
//   BatchMove refit(world, {{&a, &a_served}, {&b, &b_served}});
//   while (training) {
//     step(a, b);
//     refit.run();  // a_served and b_served are complete; a and b may be changed
//   }
//
// A tensor goes by the name of its source. Ranks may list the tensors in any order: what moves where follows from the
// names. See batch_plan.h for what is packed between hosts, and in how much memory; within one, where packing would
// copy twice, nothing is.
//
// Thread rule: confined to the rank of its world, which must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reshard/batch_plan.h"
#include "reshard/executor.h"
#include "reshard/world.h"

namespace reshard {

class BatchMove {
 public:
  struct Pair {
    const Tensor* source = nullptr;
    Tensor* target = nullptr;
  };

  // Collective. The tensors must stay where they are while this is used. Plans, and creates one window of staging and
  // two signals, which stay until the world ends. Throws Error(invalid_argument) before anything moves, on all ranks:
  // as BatchPlan does, when a tensor is twice a target or both source and target, and when ranks give different tensors
  // or options.
  BatchMove(World& world, const std::vector<Pair>& pairs, BatchOptions options = {});

  // Collective. When it returns the targets of this rank are complete and its sources may be changed. Allocates
  // nothing. After an error this and the world cannot go on.
  Traffic run();

  const BatchPlan& plan() const { return *plan_; }

 private:
  World* world_;
  std::optional<BatchPlan> plan_;
  std::optional<Executor> executor_;
  std::uint64_t runs_ = 0;
};

}  // namespace reshard
