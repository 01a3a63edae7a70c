#include <algorithm>

#include "program/composite/boxes_of_transfer.h"
#include "program/composite/shapes.h"
#include "program/composite/table.h"

namespace reshard {
namespace {

Layout layout_argument(const CompositeWriter& w, std::string_view argument) {
  try {
    return layout(w.arguments.word(argument));
  } catch (const Error& error) {
    w.arguments.refuse("argument {}: {}", argument, error.what());
  }
}

bool is_row_major(const LocalStorage& storage) {
  Index stride = 1;
  for (std::size_t d = storage.extents.size(); d-- > 0;) {
    if (storage.extents[d] != 1 && storage.strides[d] != stride) return false;
    stride *= storage.extents[d];
  }
  return storage.offset == 0 && storage.elements == stride;
}

std::string numbers_text(const std::vector<Index>& shape) {
  return shape_text(std::vector<Expression>(shape.begin(), shape.end()));
}

// Each rank's buffer must be what its layout says, packed.
void require_local_shapes(CompositeWriter& w, const CompositeOperand& operand, const Layout& layout, Index world) {
  if (!operand.is_whole())
    w.arguments.refuse("argument {}: {} must be a whole buffer, as the layout describes it", operand.argument(),
                       operand.text());
  if (operand.dtype() != layout.dtype())
    w.arguments.refuse("argument {}: {} is {}, the layout {}", operand.argument(), operand.buffer(),
                       name_of(operand.dtype()), layout.text());
  for (Index r = 0; r < world; ++r) {
    if (!layout.region(RankId(r)).held) continue;
    const LocalStorage storage = layout.storage(RankId(r));
    if (!is_row_major(storage))
      w.arguments.refuse("argument {}: {} is not packed and row-major in memory", operand.argument(), layout.text());
    const std::vector<Index> shape = shape_on(w.arguments.program(), operand.shape(), RankId(r), world);
    if (shape != storage.extents)
      w.arguments.refuse("argument {}: {} has shape {} on rank {}, but {} holds {} there", operand.argument(),
                         operand.buffer(), numbers_text(shape), r, layout.text(), numbers_text(storage.extents));
  }
}

Index world_of(const Layout& source, const Layout& target) {
  return std::max(source.mesh().end_rank(), target.mesh().end_rank()).value();
}

void read_part(CompositeWriter& w, const Transfer& transfer, const CompositeOperand& input,
               const CompositeOperand& target) {
  for (const TransferBox& box : boxes_of(transfer)) {
    const SliceRef to = part_of(target, box.target), from = part_of(input, box.source);
    transfer.is_local() ? w.kernel.copy(to, from) : w.kernel.get(to, from.on(transfer.source.value()));
  }
}

}  // namespace

// Every rank reads what it lacks, straight to its place.
void write_redistribute(CompositeWriter& w) {
  w.arguments.require_signal_per_rank();
  const CompositeOperand input = w.arguments.operand("input", OperandUse::reached_by_peers);
  const CompositeOperand target = w.arguments.operand("target", OperandUse::write);
  const Layout from = layout_argument(w, "from"), to = layout_argument(w, "to");
  if (from.has_partial() || to.has_partial())
    w.arguments.refuse("pending values are reduced by reduce_scatter and all_reduce; {} has some",
                       from.has_partial() ? from.text() : to.text());
  const Index world = world_of(from, to);
  require_local_shapes(w, input, from, world);
  require_local_shapes(w, target, to, world);
  w.kernel.require(w.ranks() >= world, fmt::format("redistribute moves between {} ranks, and there are {{P}}", world));
  w.round("inputs are there");
  w.phase("read");
  const Plan moves = plan(from, to);
  for (auto at = moves.transfers().begin(); at != moves.transfers().end();) {
    const RankId rank = at->target;
    w.kernel.when(equals(w.me(), rank.value()), [&] {
      for (; at != moves.transfers().end() && at->target == rank; ++at) read_part(w, *at, input, target);
    });
  }
  w.second_round("all have read");
  w.finish();
}

}  // namespace reshard
