#include "kernel/accumulate.h"

#include <array>
#include <utility>

#include "base/reducible.h"
#include "kernel/nest.h"
#include "kernel/reduce.h"

namespace reshard {
namespace {

using kernel::Nest;

void join_row(const FoldKernel& fold, std::byte* target, Index target_step, const std::byte* source, Index source_step,
              Index count) {
  const std::array<FoldRow, 2> terms{{{target, target_step}, {source, source_step}}};
  fold(target, target_step, terms, count, 1);
}

// Where rows are one element, the innermost loop is the row.
void join_rows(const FoldKernel& fold, std::byte* target, const std::byte* source, Index row_bytes,
               std::span<const Stride> loops) {
  const Index width = fold.element_bytes();
  if (loops.empty()) return join_row(fold, target, width, source, width, row_bytes / width);
  const Stride& loop = loops.front();
  if (loops.size() == 1 && row_bytes == width)
    return join_row(fold, target, loop.target_bytes, source, loop.source_bytes, loop.count);
  for (Index i = 0; i < loop.count; ++i)
    join_rows(fold, target + i * loop.target_bytes, source + i * loop.source_bytes, row_bytes, loops.subspan(1));
}

void join_strided(const FoldKernel& fold, std::byte* target, const std::byte* source, const StridedCopy& copy) {
  if (copy.loops.size() > Nest::kMaxLoops)
    return join_rows(fold, target + copy.target_offset, source + copy.source_offset, copy.row_bytes, copy.loops);
  const Nest nest = kernel::simplified(target, source, copy);
  if (nest.row_bytes > 0) join_rows(fold, nest.target, nest.source, nest.row_bytes, nest.used());
}

template <ReduceOp op, Dtype dtype>
void join(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  static const FoldKernel fold = fold_kernel(op, dtype);
  join_strided(fold, target, source, copy);
}

constexpr std::size_t kDtypeCount = static_cast<std::size_t>(Dtype::complex128) + 1;

template <ReduceOp op, std::size_t... D>
constexpr std::array<CopyKernel, kDtypeCount> joins_of(std::index_sequence<D...>) {
  return {join<op, static_cast<Dtype>(D)>...};
}

template <ReduceOp op>
CopyKernel join_of(Dtype dtype) {
  static constexpr auto joins = joins_of<op>(std::make_index_sequence<kDtypeCount>{});
  return joins[static_cast<std::size_t>(dtype)];
}

}  // namespace

CopyKernel accumulate_kernel(ReduceOp op, Dtype dtype) {
  if (!is_reducible(dtype, op)) return nullptr;
  switch (op) {
    case ReduceOp::sum: return join_of<ReduceOp::sum>(dtype);
    case ReduceOp::min: return join_of<ReduceOp::min>(dtype);
    case ReduceOp::max: return join_of<ReduceOp::max>(dtype);
    case ReduceOp::product: return join_of<ReduceOp::product>(dtype);
    case ReduceOp::avg: break;
  }
  return nullptr;
}

}  // namespace reshard
