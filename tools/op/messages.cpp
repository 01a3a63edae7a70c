#include "op/messages.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace reshard::cli {
namespace {

constexpr int kSource = 0, kTarget = 1;

// One end of a block in a buffer that `storage` describes.
struct End {
  Index offset, row_bytes;
  std::vector<std::pair<Index, Index>> loops;  // count, stride
};

// Indices of the element that lies at `offset` elements.
std::vector<Index> indices_at(const LocalStorage& storage, Index offset) {
  std::vector<std::size_t> dims(storage.strides.size());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  std::ranges::stable_sort(dims, std::greater{}, [&](std::size_t dim) { return storage.strides[dim]; });
  std::vector<Index> indices(dims.size());
  offset -= storage.offset;
  for (const std::size_t dim : dims) {
    if (storage.extents[dim] <= 1) continue;
    indices[dim] = std::min(offset / storage.strides[dim], storage.extents[dim] - 1);
    offset -= indices[dim] * storage.strides[dim];
  }
  return indices;
}

// The least box around what the block touches.
MemoryBox box_of(const End& end, const LocalStorage& storage, Index element) {
  Index low = end.offset, high = end.offset + end.row_bytes - element;
  for (const auto& [count, stride] : end.loops) (stride < 0 ? low : high) += (count - 1) * stride;
  MemoryBox box{indices_at(storage, low / element), indices_at(storage, high / element)};
  for (std::size_t dim = 0; dim < box.begin.size(); ++dim) {
    if (box.begin[dim] > box.end[dim]) std::swap(box.begin[dim], box.end[dim]);
    ++box.end[dim];
  }
  return box;
}

End source_end(const Block& block) {
  End end{block.source_offset, block.row_bytes, {}};
  for (const Loop& loop : block.loops) end.loops.emplace_back(loop.count, loop.source_stride);
  return end;
}

End target_end(const Block& block) {
  End end{block.target_offset, block.row_bytes, {}};
  for (const Loop& loop : block.loops) end.loops.emplace_back(loop.count, loop.target_stride);
  return end;
}

Index hops_between(const Mesh& mesh, RankId a, RankId b) {
  const auto from = mesh.coordinate_of(a), to = mesh.coordinate_of(b);
  Index hops = 0;
  for (std::size_t axis = 0; from && to && axis < from->size(); ++axis) {
    const Index apart = std::abs((*from)[axis] - (*to)[axis]);
    hops += std::min(apart, mesh.axes()[axis].size - apart);
  }
  return hops;
}

class Reader {
 public:
  explicit Reader(const LinearOp& op) : op_(op), element_(bytes_of(op.in().dtype())) {}

  Direction read() {
    const Index ranks = std::max(op_.in().mesh().end_rank(), op_.out().mesh().end_rank()).value();
    const Program program = op_.forward_program(ranks);
    for (Index rank = 0; rank < ranks; ++rank, round_ = 1)
      for (const Operation& operation : program.operations[static_cast<std::size_t>(rank)])
        take(operation, RankId(rank));
    Direction direction{.op = op_, .messages = {}, .bytes = 0, .copied = 0, .folded = folded_};
    for (auto& [key, message] : messages_) {
      (message.from == message.to ? direction.copied : direction.bytes) += message.bytes;
      direction.messages.push_back(std::move(message));
    }
    return direction;
  }

 private:
  void take(const Operation& operation, RankId self) {
    switch (operation.code) {
      case OpCode::wait: round_ = static_cast<Index>(operation.value); break;
      case OpCode::copy: add(operation, self, self); break;
      case OpCode::get: add(operation, operation.peer, self); break;
      case OpCode::put: add(operation, self, operation.peer); break;
      case OpCode::reduce:
        for (const Reduction& reduction : operation.reductions) {
          Index elements = 1;
          for (const Index count : reduction.counts) elements *= count;
          folded_ += elements * element_;
        }
        break;
      default: break;
    }
  }

  void add(const Operation& operation, RankId from, RankId to) {
    Message& message = messages_[{from == to ? 1 : round_, to, from}];
    message.round = from == to ? 1 : round_;
    message.from = from;
    message.to = to;
    message.hops = hops_between(op_.in().mesh(), from, to);
    for (const Block& block : operation.blocks) {
      message.bytes += block.bytes();
      if (operation.source_window == kSource)
        message.sent.push_back(box_of(source_end(block), op_.in().storage(from), element_));
      if (operation.target_window == kTarget)
        message.received.push_back(box_of(target_end(block), op_.out().storage(to), element_));
    }
  }

  const LinearOp& op_;
  Index element_, round_ = 1, folded_ = 0;
  std::map<std::tuple<Index, RankId, RankId>, Message> messages_;
};

}  // namespace

Direction direction_of(const LinearOp& op) { return Reader(op).read(); }

}  // namespace reshard::cli
