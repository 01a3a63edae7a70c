// Megatron's choice of a source: one record stands for all the copies of a tensor, and its groups send everything.
#pragma once

#include "plan/megatron/holdings.h"

namespace reshard::megatron {

class Representatives {
 public:
  explicit Representatives(const Holdings& sources) : sources_(sources) {}

  // The record for a target. Cost: O(log groups), after O(sources) for the first of each part of the experts.
  // Throws Error(invalid_argument) if no source is of the target's part of the experts.
  Index of(const Parameter& target);

 private:
  struct Candidates {
    std::vector<Index> records;
    std::vector<std::vector<Index>> buckets;  // by data parallel group
  };
  const Candidates& candidates(std::optional<Index> part);

  const Holdings& sources_;
  std::map<std::optional<Index>, Candidates> known_;
};

}  // namespace reshard::megatron
