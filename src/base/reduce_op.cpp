#include "reshard/reduce_op.h"

#include <algorithm>
#include <array>

namespace reshard {
namespace {

constexpr std::array<std::string_view, 5> kNames{"sum", "avg", "min", "max", "product"};

}  // namespace

std::string_view name_of(ReduceOp op) { return kNames[static_cast<std::size_t>(op)]; }

std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<ReduceOp>(found - kNames.begin());
}

}  // namespace reshard
