// What ranks do together while one of them goes wrong.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reshard/world.h"

namespace reshard::multi {

// One operation, made ready for a world: fill, run, and look at what came out. Every value names who wrote it and when.
struct ReadyOperation {
  std::function<void(std::uint64_t epoch)> fill;
  std::function<void()> run;
  std::function<void(std::uint64_t epoch)> expect;  // throws std::logic_error that names place and value
};

struct NamedOperation {
  std::string name;
  std::function<ReadyOperation(World&)> make;  // collective
};

// all_to_all, all_gather, reduce_scatter, all_reduce, broadcast, barrier, redistribute, program.
const std::vector<NamedOperation>& operations_under_fault();

}  // namespace reshard::multi
