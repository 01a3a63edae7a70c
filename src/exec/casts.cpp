#include "exec/casts.h"

#include "kernel/join_loops.h"

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

bool Executor::Casts::read_through(std::size_t number, int window, const StridedCopy& get) {
  Cast& cast = casts_[number];
  const Index element = cast.kernel.source_bytes();
  if (cast.term.window != window || cast.term.offset != get.target_offset || get.row_bytes % element != 0) return false;
  std::vector<Stride> brought(get.loops.begin(), get.loops.end());
  brought.push_back({get.row_bytes / element, element, element});
  const auto loops = kernel::joined_loops(brought, cast.loops, element);
  if (!loops) return false;
  cast.far_offset = get.source_offset;
  cast.far_loops = *loops;
  return true;
}

std::size_t Executor::Casts::uses_of(int window) const {
  std::size_t uses = 0;
  for (const Cast& cast : casts_) uses += (cast.term.window == window) + (cast.result.window == window);
  return uses;
}

void Executor::Casts::run_far(std::size_t number, const std::byte* far,
                              std::span<const std::span<std::byte>> windows) const {
  const Cast& cast = casts_[number];
  std::byte* const result = windows[static_cast<std::size_t>(cast.result.window)].data() + cast.result.offset;
  cast_strided(cast.kernel, result, far + cast.far_offset,
               {.loops = cast.far_loops, .job_bytes = cast.job_bytes, .leaves_stores = true});
}

void Executor::Casts::run(std::size_t first, std::size_t count, std::span<const std::span<std::byte>> windows) const {
  const auto at = [&](const Operand& operand) {
    return windows[static_cast<std::size_t>(operand.window)].data() + operand.offset;
  };
  for (const Cast& cast : std::span(casts_).subspan(first, count))
    cast_strided(cast.kernel, at(cast.result), at(cast.term),
                 {.loops = cast.loops, .job_bytes = cast.job_bytes, .leaves_stores = true});
}

}  // namespace reshard
