#include "exec/folds.h"

#include <algorithm>

namespace reshard {

void Executor::Folds::add(const Operation& operation) {
  const FoldKernel kernel = fold_kernel(operation.reduce_op, operation.dtype);
  for (const Reduction& reduction : operation.reductions) {
    Fold fold{.kernel = kernel,
              .divisor = operation.divisor,
              .counts = reduction.counts,
              .result_steps = reduction.result.strides,
              .term_steps = {},
              .result = reduction.result,
              .terms = reduction.terms};
    for (std::size_t loop = 0; loop < reduction.counts.size(); ++loop)
      for (const Operand& term : reduction.terms) fold.term_steps.push_back(term.strides[loop]);
    rows_.resize(std::max(rows_.size(), reduction.terms.size()));
    folds_.push_back(std::move(fold));
  }
}

std::size_t Executor::Folds::uses_of(int window) const {
  std::size_t uses = 0;
  for (const Fold& fold : folds_)
    uses += (fold.result.window == window) + std::ranges::count(fold.terms, window, &Operand::window);
  return uses;
}

void Executor::Folds::run(std::size_t first, std::size_t count, std::span<const std::span<std::byte>> windows) {
  const auto at = [&](const Operand& operand) {
    return windows[static_cast<std::size_t>(operand.window)].data() + operand.offset;
  };
  for (const Fold& fold : std::span(folds_).subspan(first, count)) {
    const std::span<FoldRow> terms(rows_.data(), fold.terms.size());
    for (std::size_t t = 0; t < terms.size(); ++t) terms[t].data = at(fold.terms[t]);
    reduce(fold.kernel, at(fold.result), terms, {fold.counts, fold.result_steps, fold.term_steps}, fold.divisor);
  }
}

}  // namespace reshard
