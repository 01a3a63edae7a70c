#include "program/reduce_operations.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "program/pieces.h"
#include "program/runs.h"

namespace reshard {
namespace {

// One loop of a reduction, in bytes: at the result, at a staged term, at the rank's own term.
struct FoldLoop {
  Index count = 0;
  Index result = 0;
  Index staged = 0;
  Index own = 0;
};

// Where a loop nest begins at each of the three.
struct FoldNest {
  Index result = 0;
  Index staged = 0;
  Index own = 0;
  std::vector<FoldLoop> loops = {};
};

// Strides of a piece packed in the order of its dimensions.
struct Packing {
  std::vector<Index> extents;
  std::vector<Index> strides;
  Index elements = 1;
};

std::vector<int> slowest_first(const LocalStorage& storage) {
  std::vector<int> order(storage.strides.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{},
                           [&](int dim) { return storage.strides[static_cast<std::size_t>(dim)]; });
  return order;
}

Packing packing_of(const Transfer& piece, const std::vector<int>& order) {
  Packing packing;
  for (const std::vector<Span>& spans : piece.dims) {
    Index& extent = packing.extents.emplace_back(0);
    for (const Span& span : spans) extent += span.length;
  }
  packing.strides.resize(order.size());
  for (std::size_t k = order.size(); k-- > 0;) {
    const auto dim = static_cast<std::size_t>(order[k]);
    packing.strides[dim] = packing.elements;
    packing.elements *= packing.extents[dim];
  }
  return packing;
}

// The piece as a transfer to its packed form.
Transfer to_packed(const Transfer& piece, RankId owner) {
  Transfer packed{owner, piece.target, piece.dims};
  for (std::vector<Span>& spans : packed.dims) {
    LocalIndex next(0);
    for (Span& span : spans) {
      span.target = next;
      next += span.length;
    }
  }
  return packed;
}

bool continues(const FoldLoop& outer, const FoldLoop& inner) {
  return outer.result == inner.count * inner.result && outer.staged == inner.count * inner.staged &&
         outer.own == inner.count * inner.own;
}

void simplify(std::vector<FoldLoop>& loops) {
  std::erase_if(loops, [](const FoldLoop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(loops, std::greater{}, [](const FoldLoop& loop) { return std::abs(loop.result); });
  std::vector<FoldLoop> merged;
  for (const FoldLoop& loop : loops) {
    if (!merged.empty() && continues(merged.back(), loop)) {
      merged.back() = {merged.back().count * loop.count, loop.result, loop.staged, loop.own};
    } else {
      merged.push_back(loop);
    }
  }
  loops = std::move(merged);
}

// The nests that visit every element of a piece once.
class Nests {
 public:
  Nests(const Transfer& piece, const LocalStorage& own, const LocalStorage& result, const Packing& packing, Index bytes)
      : own_(own), result_(result), packing_(packing), bytes_(bytes) {
    for (const std::vector<Span>& spans : piece.dims) {
      runs_.push_back(runs_of(spans));
      std::vector<Index>& begins = packed_begins_.emplace_back();
      Index begin = 0;
      for (const Run& run : runs_.back()) {
        begins.push_back(begin);
        begin += run.count * run.first.length;
      }
    }
  }

  std::vector<FoldNest> all() const {
    std::vector<FoldNest> nests;
    std::vector<std::size_t> at(runs_.size(), 0);
    do nests.push_back(nest(at));
    while (advance(at, runs_));
    return nests;
  }

 private:
  FoldNest nest(const std::vector<std::size_t>& at) const {
    FoldNest nest{.result = result_.offset * bytes_, .staged = 0, .own = own_.offset * bytes_};
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      const Run& run = runs_[dim][at[dim]];
      const Index result = result_.strides[dim] * bytes_, staged = packing_.strides[dim] * bytes_,
                  own = own_.strides[dim] * bytes_;
      nest.result += run.first.target.value() * result;
      nest.staged += packed_begins_[dim][at[dim]] * staged;
      nest.own += run.first.source.value() * own;
      nest.loops.push_back({run.count, run.target_step * result, run.first.length * staged, run.source_step * own});
      nest.loops.push_back({run.first.length, result, staged, own});
    }
    simplify(nest.loops);
    return nest;
  }

  const LocalStorage& own_;
  const LocalStorage& result_;
  const Packing& packing_;
  Index bytes_;
  std::vector<std::vector<Run>> runs_;
  std::vector<std::vector<Index>> packed_begins_;  // of each run in the packed piece
};

std::vector<Index> strides_of(const std::vector<FoldLoop>& loops, Index FoldLoop::*stride) {
  std::vector<Index> strides;
  for (const FoldLoop& loop : loops) strides.push_back(loop.*stride);
  return strides;
}

class PartProgram {
 public:
  PartProgram(const Layout& source, const Layout& target, const Fold& fold, const Part& part, Index turn)
      : fold_(fold),
        part_(part),
        self_(part.terms.front().target),
        dtype_(target.dtype()),
        bytes_(bytes_of(target.dtype())),
        result_(target.storage(self_)),
        own_(source.storage(self_)) {
    for (const Transfer& term : part.terms)
      if (!term.is_local()) remote_.push_back({term.source, source.storage(term.source)});
    order_.resize(remote_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (!order_.empty()) std::rotate(order_.begin(), order_.begin() + turn % std::ssize(order_), order_.end());
  }

  std::vector<Operation> operations(Index staging_limit) {
    const std::vector<int> order = slowest_first(result_);
    const Index staged_bytes = bytes_ * std::max<Index>(1, std::ssize(remote_));  // of one element
    const Index greatest = std::max<Index>(1, staging_limit / staged_bytes);
    std::vector<Operation> operations;
    for (const Transfer& piece : pieces_of(part_.terms.front(), order, greatest)) {
      const Packing packing = packing_of(piece, order);
      for (const std::size_t k : order_) operations.push_back(get(piece, packing, k));
      operations.push_back(reduce(piece, packing));
    }
    return operations;
  }

 private:
  struct Remote {
    RankId rank;
    LocalStorage storage;
  };

  // Remote term k waits in slot k of the staging window.
  Index slot(std::size_t k, const Packing& packing) const { return static_cast<Index>(k) * packing.elements; }

  Operation get(const Transfer& piece, const Packing& packing, std::size_t k) const {
    const LocalStorage staged{packing.extents, packing.strides, slot(k, packing), packing.elements};
    return {.code = OpCode::get,
            .peer = remote_[k].rank,
            .source_window = kSourceWindow,
            .target_window = kStagingWindow,
            .blocks = blocks_of(to_packed(piece, remote_[k].rank), bytes_, remote_[k].storage, staged)};
  }

  Operation reduce(const Transfer& piece, const Packing& packing) const {
    Operation operation{.code = OpCode::reduce,
                        .peer = self_,
                        .source_window = kStagingWindow,
                        .target_window = kTargetWindow,
                        .reduce_op = fold_.op,
                        .dtype = dtype_,
                        .divisor = fold_.divisor};
    for (const FoldNest& nest : Nests(piece, own_, result_, packing, bytes_).all()) {
      Reduction reduction;
      for (const FoldLoop& loop : nest.loops) reduction.counts.push_back(loop.count);
      reduction.result = {kTargetWindow, nest.result, strides_of(nest.loops, &FoldLoop::result)};
      std::size_t k = 0;
      for (const Transfer& term : part_.terms) {
        if (term.is_local()) {
          reduction.terms.push_back({kSourceWindow, nest.own, strides_of(nest.loops, &FoldLoop::own)});
        } else {
          reduction.terms.push_back(
              {kStagingWindow, slot(k++, packing) * bytes_ + nest.staged, strides_of(nest.loops, &FoldLoop::staged)});
        }
      }
      operation.reductions.push_back(std::move(reduction));
    }
    return operation;
  }

  const Fold& fold_;
  const Part& part_;
  RankId self_;
  Dtype dtype_;
  Index bytes_;
  LocalStorage result_;
  LocalStorage own_;
  std::vector<Remote> remote_;
  std::vector<std::size_t> order_;  // in which remote terms are read
};

}  // namespace

std::vector<Operation> reduce_operations(const Layout& source, const Layout& target, const Fold& fold, const Part& part,
                                         Index staging_limit, Index turn) {
  return PartProgram(source, target, fold, part, turn).operations(staging_limit);
}

Operation fill_operation(const Layout& target, ReduceOp op, RankId rank) {
  Transfer all{rank, rank, {}};
  for (const Segments& segments : target.region(rank).dims) {
    std::vector<Span>& spans = all.dims.emplace_back();
    for (const Segment& segment : segments) spans.push_back({LocalIndex(0), segment.local, segment.length});
  }
  const LocalStorage storage = target.storage(rank);
  const LocalStorage one{storage.extents, std::vector<Index>(storage.strides.size(), 0), 0, 1};
  return {.code = OpCode::fill,
          .peer = rank,
          .target_window = kTargetWindow,
          .blocks = blocks_of(all, bytes_of(target.dtype()), one, storage),
          .reduce_op = op,
          .dtype = target.dtype()};
}

}  // namespace reshard
