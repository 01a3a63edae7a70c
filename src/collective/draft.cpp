#include "collective/draft.h"

#include <utility>

namespace reshard::collective {
namespace {

Reduction contiguous(Spot result, Index result_bytes, std::span<const Spot> terms, Index term_bytes, Index count) {
  Reduction reduction{.counts = {count},
                      .result = {.window = result.window, .offset = result.offset, .strides = {result_bytes}},
                      .terms = {}};
  for (const Spot& term : terms)
    reduction.terms.push_back({.window = term.window, .offset = term.offset, .strides = {term_bytes}});
  return reduction;
}

bool continues(const Operation& last, OpCode code, RankId peer, Spot source, Spot target) {
  return last.code == code && last.peer == peer && last.source_window == source.window &&
         last.target_window == target.window;
}

}  // namespace

void Draft::copy(Spot source, Spot target, Index bytes) { move(OpCode::copy, RankId(0), source, target, bytes); }

void Draft::get(RankId peer, Spot source, Spot target, Index bytes) { move(OpCode::get, peer, source, target, bytes); }

void Draft::put(RankId peer, Spot source, Spot target, Index bytes) { move(OpCode::put, peer, source, target, bytes); }

void Draft::move(OpCode code, RankId peer, Spot source, Spot target, Index bytes) {
  if (bytes == 0) return;
  if (operations_.empty() || !continues(operations_.back(), code, peer, source, target))
    operations_.push_back({.code = code, .peer = peer, .source_window = source.window, .target_window = target.window});
  std::vector<Block>& blocks = operations_.back().blocks;
  const auto adjoins = [&](const Block& last) {
    return last.source_offset + last.row_bytes == source.offset && last.target_offset + last.row_bytes == target.offset;
  };
  if (!blocks.empty() && adjoins(blocks.back())) {
    blocks.back().row_bytes += bytes;
  } else {
    blocks.push_back({.source_offset = source.offset, .target_offset = target.offset, .row_bytes = bytes});
  }
}

Operation Draft::signal(OpCode code, Index phase) const {
  return {.code = code,
          .value = static_cast<std::uint64_t>(phase),
          .per_run = static_cast<std::uint64_t>(rounds_),
          .notify_op = NotifyOp::set,
          .compare = WaitCompare::greater_equal};
}

void Draft::tell(RankId peer, Index phase) {
  Operation notify = signal(OpCode::notify, phase);
  notify.peer = peer;
  notify.slot = me_.value();
  operations_.push_back(std::move(notify));
}

void Draft::await(RankId peer, Index phase) {
  Operation wait = signal(OpCode::wait, phase);
  wait.slot = peer.value();
  operations_.push_back(std::move(wait));
}

void Draft::fold(Spot result, std::span<const Spot> terms, Index count, const Folding& folding, Index divisor) {
  if (count == 0) return;
  const Index bytes = bytes_of(folding.dtype);
  operations_.push_back({.code = OpCode::reduce,
                         .reduce_op = folding.op,
                         .dtype = folding.dtype,
                         .divisor = divisor,
                         .reductions = {contiguous(result, bytes, terms, bytes, count)}});
}

void Draft::cast(Spot source, Dtype source_dtype, Spot target, Dtype target_dtype, Index count) {
  if (count == 0) return;
  operations_.push_back(
      {.code = OpCode::cast,
       .dtype = target_dtype,
       .reductions = {contiguous(target, bytes_of(target_dtype), std::span(&source, 1), bytes_of(source_dtype), count)},
       .source_dtype = source_dtype});
}

}  // namespace reshard::collective
