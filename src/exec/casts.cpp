#include "exec/casts.h"

namespace reshard {

void Executor::Casts::add(const Operation& operation) {
  for (const Reduction& reduction : operation.reductions) {
    const Operand& term = reduction.terms.front();
    std::vector<Stride> loops;
    for (std::size_t i = 0; i < reduction.counts.size(); ++i)
      loops.push_back({reduction.counts[i], term.strides[i], reduction.result.strides[i]});
    casts_.push_back({.kernel = CastKernel(operation.source_dtype, operation.dtype),
                      .loops = std::move(loops),
                      .result = reduction.result,
                      .term = term,
                      .job_bytes = 0});
  }
}

void Executor::Casts::set_job(std::size_t first, std::size_t count, Index bytes) {
  for (Cast& cast : std::span(casts_).subspan(first, count)) cast.job_bytes = bytes;
}

void Executor::Casts::run(std::size_t first, std::size_t count, std::span<const std::span<std::byte>> windows) const {
  const auto at = [&](const Operand& operand) {
    return windows[static_cast<std::size_t>(operand.window)].data() + operand.offset;
  };
  for (const Cast& cast : std::span(casts_).subspan(first, count))
    cast_strided(cast.kernel, at(cast.result), at(cast.term), {.loops = cast.loops, .job_bytes = cast.job_bytes});
}

}  // namespace reshard
