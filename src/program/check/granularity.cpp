#include "program/check/granularity.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace reshard::explore {
namespace {

bool is_zero(const Operation& fill) { return fill.number ? *fill.number == 0 : fill.reduce_op == ReduceOp::sum; }

// Whether `next` is what follows `last` in the buffer of the rank and in the input it expects.
bool follows(const Expectation& last, const Expectation& next) {
  const Index step = bytes_of(last.dtype);
  return next.rank == last.rank && next.window == last.window && next.dtype == last.dtype &&
         next.offset == last.offset + step && next.value.kind == Term::Kind::input &&
         last.value.kind == Term::Kind::input && next.value.rank == last.value.rank &&
         next.value.window == last.value.window && next.value.offset == last.value.offset + step;
}

void each_input(const Term& term, const std::function<void(int)>& visit) {
  if (term.kind == Term::Kind::input) visit(term.window);
  for (const Term& inner : term.terms) each_input(inner, visit);
}

}  // namespace

Granularity::Granularity(std::span<const WindowSpec> windows) : parent_(windows.size()) {
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  for (const WindowSpec& window : windows) {
    Index bytes = 0;
    for (const Index n : window.bytes) bytes = std::gcd(bytes, n);
    bytes_.push_back(std::max<Index>(bytes, 1));
  }
}

std::size_t Granularity::root(int window) const {
  auto at = static_cast<std::size_t>(window);
  while (parent_[at] != at) at = parent_[at];
  return at;
}

void Granularity::cut(int window, Index bytes) {
  Index& now = bytes_[root(window)];
  const Index cut = std::gcd(now, bytes);
  changed_ = changed_ || cut != now;
  now = cut;
}

void Granularity::unite(int a, int b) {
  const std::size_t one = root(a), other = root(b);
  if (one == other) return;
  changed_ = changed_ || bytes_[one] != bytes_[other];
  parent_[other] = one;
  bytes_[one] = std::gcd(bytes_[one], bytes_[other]);
}

void Granularity::observe(const Operand& operand, std::span<const Index> counts, Index element_bytes) {
  cut(operand.window, element_bytes);
  cut(operand.window, operand.offset);
  for (std::size_t d = 0; d < counts.size(); ++d)
    if (counts[d] > 1) cut(operand.window, operand.strides[d]);
}

bool Granularity::observe(const Operation& op) {
  changed_ = false;
  const bool moves = op.code == OpCode::copy || op.code == OpCode::put || op.code == OpCode::get;
  for (const Block& block : op.blocks) {
    cut(op.target_window, block.target_offset);
    cut(op.target_window, block.row_bytes);
    if (moves) cut(op.source_window, block.source_offset);
    for (const Loop& loop : block.loops) {
      if (loop.count < 2) continue;
      cut(op.target_window, loop.target_stride);
      if (moves) cut(op.source_window, loop.source_stride);
    }
    if (op.accumulate || (op.code == OpCode::fill && !is_zero(op))) cut(op.target_window, bytes_of(op.dtype));
    if (moves) unite(op.target_window, op.source_window);
  }
  for (const Reduction& reduction : op.reductions) {
    observe(reduction.result, reduction.counts, bytes_of(op.dtype));
    for (const Operand& term : reduction.terms) {
      observe(term, reduction.counts, bytes_of(op.code == OpCode::cast ? op.source_dtype : op.dtype));
      if (op.code != OpCode::cast) unite(reduction.result.window, term.window);
    }
  }
  return changed_;
}

void Granularity::observe(std::span<const Expectation> expectations, std::span<const WindowSpec> windows) {
  for (std::size_t i = 0; i < expectations.size();) {
    const Expectation& first = expectations[i];
    std::size_t end = i + 1;
    while (end < expectations.size() && follows(expectations[end - 1], expectations[end])) ++end;
    const Index bytes = bytes_of(first.dtype) * static_cast<Index>(end - i);
    const bool one_number = first.value.kind == Term::Kind::constant && first.value.value == 0;
    cut(first.window, one_number ? first.offset : std::gcd(first.offset, bytes));
    if (one_number) cut(first.window, bytes);
    if (first.value.kind == Term::Kind::input) {
      cut(first.value.window, first.value.offset);
      cut(first.value.window, bytes);
    }
    each_input(first.value, [&](int window) {
      if (first.value.kind == Term::Kind::fold) cut(window, bytes_of(windows[static_cast<std::size_t>(window)].dtype));
      if (bytes_of(windows[static_cast<std::size_t>(window)].dtype) == bytes_of(first.dtype))
        unite(first.window, window);
    });
    i = end;
  }
}

}  // namespace reshard::explore
