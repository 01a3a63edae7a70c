#include "exec/casts.h"

namespace reshard {

void Executor::Casts::add(const Operation& operation) {
  for (const Reduction& reduction : operation.reductions)
    casts_.push_back({.kernel = CastKernel(operation.source_dtype, operation.dtype),
                      .counts = reduction.counts,
                      .result = reduction.result,
                      .term = reduction.terms.front()});
}

void Executor::Casts::run(std::size_t first, std::size_t count, std::span<const std::span<std::byte>> windows) const {
  const auto at = [&](const Operand& operand) {
    return windows[static_cast<std::size_t>(operand.window)].data() + operand.offset;
  };
  for (const Cast& cast : std::span(casts_).subspan(first, count)) run_loops(cast, 0, at(cast.result), at(cast.term));
}

// The last loop is the row.
void Executor::Casts::run_loops(const Cast& cast, std::size_t level, std::byte* target, const std::byte* source) {
  if (cast.counts.empty()) return cast.kernel(target, 0, source, 0, 1);
  const Index count = cast.counts[level];
  const Index target_step = cast.result.strides[level], source_step = cast.term.strides[level];
  if (level + 1 == cast.counts.size()) return cast.kernel(target, target_step, source, source_step, count);
  for (Index i = 0; i < count; ++i) run_loops(cast, level + 1, target + i * target_step, source + i * source_step);
}

}  // namespace reshard
