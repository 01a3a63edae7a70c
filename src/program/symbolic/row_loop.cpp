#include "program/symbolic/row_loop.h"

namespace reshard {
namespace {

bool mentions(const Expression& e, std::string_view variable) {
  if (e.kind() == Expression::Kind::variable) return e.name() == variable;
  for (const Expression& operand : e.operands())
    if (mentions(operand, variable)) return true;
  return false;
}

// The one statement of the body, if it is a plain move.
const DataMove* move_of(const Body& body) {
  const DataMove* found = nullptr;
  for (const Statement& statement : body) {
    if (std::holds_alternative<Comment>(statement.form)) continue;
    const auto* move = std::get_if<DataMove>(&statement.form);
    if (move == nullptr || found != nullptr || move->accumulate || move->cast) return nullptr;
    found = move;
  }
  return found;
}

}  // namespace

std::optional<RowLoop> RowLoop::of(const PlacedProgram& program, RankId me, const For& loop, const Scope& scope,
                                   ElementReader& reader) {
  const DataMove* move = move_of(loop.body);
  if (move == nullptr || loop.peers) return std::nullopt;
  const PlacedSlice target = place_slice(program, me, move->target, scope, &reader, false);
  const PlacedSlice source = place_slice(program, me, move->source, scope, &reader, false);
  check_same_shape(target, source);
  const std::vector<Block> blocks = block_between(target, source);
  auto moving_source = moving_of(program, me, move->source, source.rank, loop, scope, reader);
  auto moving_target = moving_of(program, me, move->target, target.rank, loop, scope, reader);
  if (blocks.size() != 1 || target.dtype != source.dtype || !moving_source || !moving_target) return std::nullopt;
  RowLoop made;
  made.first_ = blocks[0];
  made.source_ = std::move(*moving_source);
  made.target_ = std::move(*moving_target);
  return made;
}

std::optional<RowLoop::MovingList> RowLoop::moving_of(const PlacedProgram& program, RankId me, const BufferSlice& slice,
                                                      RankId rank, const For& loop, const Scope& scope,
                                                      ElementReader& reader) {
  if (slice.peer && mentions(*slice.peer, loop.variable)) return std::nullopt;
  const PlacedBuffer& buffer = program.buffer(slice.buffer, rank);
  MovingList list;
  Index stride = bytes_of(buffer.dtype);
  for (std::size_t d = buffer.shape.size(); d-- > 0;) {
    const Index extent = buffer.shape[d], own_stride = stride;
    stride *= extent;
    if (d >= slice.selections.size()) continue;
    const Selection& selection = slice.selections[d];
    if (!mentions(selection.from, loop.variable) && !mentions(selection.to, loop.variable)) continue;
    auto index = RowExpression::of(selection.from, program, me, scope, loop.variable);
    if (selection.kind != Selection::Kind::at || !index) return std::nullopt;
    list.push_back({std::move(*index), extent, own_stride, evaluate(selection.from, scope, &reader)});
  }
  return list;
}

std::optional<Index> RowLoop::shift(const MovingList& list, Index i, MemoryReader& memory) {
  Index bytes = 0;
  for (const Moving& moving : list) {
    const auto index = moving.index.value(i, memory);
    if (!index || *index < 0 || *index >= moving.extent) return std::nullopt;
    bytes += (*index - moving.first) * moving.stride;
  }
  return bytes;
}

std::optional<Block> RowLoop::block(Index i, MemoryReader& memory) const {
  const auto source = shift(source_, i, memory), target = shift(target_, i, memory);
  if (!source || !target) return std::nullopt;
  Block block = first_;
  block.source_offset += *source;
  block.target_offset += *target;
  return block;
}

}  // namespace reshard
