#include "kernel/accumulate.h"

#include <array>
#include <utility>

#include "base/reducible.h"
#include "kernel/reduce.h"

namespace reshard {
namespace {

struct Joint {
  FoldKernel fold;
  Index element_bytes;
  Index row_bytes;
};

void join_rows(const Joint& joint, std::byte* target, const std::byte* source, std::span<const Stride> loops) {
  if (loops.empty()) {
    const std::array<FoldRow, 2> terms{{{target, joint.element_bytes}, {source, joint.element_bytes}}};
    return joint.fold(target, joint.element_bytes, terms, joint.row_bytes / joint.element_bytes, 1);
  }
  const Stride& loop = loops.front();
  for (Index i = 0; i < loop.count; ++i)
    join_rows(joint, target + i * loop.target_bytes, source + i * loop.source_bytes, loops.subspan(1));
}

template <ReduceOp op, Dtype dtype>
void join(std::byte* target, const std::byte* source, const StridedCopy& copy) {
  static const FoldKernel fold = fold_kernel(op, dtype);
  join_rows({fold, bytes_of(dtype), copy.row_bytes}, target + copy.target_offset, source + copy.source_offset,
            copy.loops);
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
