#include "program/symbolic/placed_slice.h"

#include <algorithm>

#include "base/fail.h"

namespace reshard {
namespace {

struct Selected {
  Index from = 0;
  Index count = 0;
  std::string text;
};

Selected selected(const Selection& selection, Index extent, const Scope& scope, ElementReader* reader) {
  if (selection.kind == Selection::Kind::all) return {0, extent, ".."};
  const Index from = evaluate(selection.from, scope, reader);
  if (selection.kind == Selection::Kind::at) return {from, 1, std::to_string(from)};
  const Index to = evaluate(selection.to, scope, reader);
  return {from, to - from, fmt::format("{}..{}", from, to)};
}

RankId peer_of(const PlacedProgram& program, RankId me, const BufferSlice& slice, const Scope& scope,
               ElementReader* reader) {
  if (!slice.peer) return me;
  const Index peer = evaluate(*slice.peer, scope, reader);
  if (peer < 0 || peer >= program.options().ranks)
    fail(Code::invalid_argument, "`{}` is rank {}, outside [0, {})", slice.peer->text(), peer, program.options().ranks);
  return RankId(peer);
}

std::string shape_text(const PlacedSlice& slice) {
  std::string text;
  for (const SliceLoop& loop : slice.loops) text += (text.empty() ? "" : ", ") + std::to_string(loop.count);
  return slice.empty ? "[nothing]" : "[" + text + "]";
}

// Loops of several operands at once: the strides of operand o in loop l are strides[l][o].
struct JointLoops {
  std::vector<Index> counts;
  std::vector<std::vector<Index>> strides;
};

// Two neighbours become one where every operand goes on where it left off.
void merge_neighbours(JointLoops& loops) {
  for (std::size_t l = loops.counts.size(); l-- > 1;) {
    bool one = true;
    for (std::size_t o = 0; o < loops.strides[l].size(); ++o)
      one = one && loops.strides[l - 1][o] == loops.strides[l][o] * loops.counts[l];
    if (!one) continue;
    loops.counts[l - 1] *= loops.counts[l];
    loops.strides[l - 1] = loops.strides[l];
    loops.counts.erase(loops.counts.begin() + static_cast<std::ptrdiff_t>(l));
    loops.strides.erase(loops.strides.begin() + static_cast<std::ptrdiff_t>(l));
  }
}

JointLoops joint_loops(std::span<const PlacedSlice* const> operands) {
  JointLoops loops;
  for (std::size_t l = 0; l < operands[0]->loops.size(); ++l) {
    loops.counts.push_back(operands[0]->loops[l].count);
    std::vector<Index>& strides = loops.strides.emplace_back();
    for (const PlacedSlice* operand : operands) strides.push_back(operand->loops[l].stride);
  }
  merge_neighbours(loops);
  return loops;
}

}  // namespace

PlacedSlice place_slice(const PlacedProgram& program, RankId me, const BufferSlice& slice, const Scope& scope,
                        ElementReader* reader, bool labelled) {
  const RankId rank = peer_of(program, me, slice, scope, reader);
  const PlacedBuffer& buffer = program.buffer(slice.buffer, rank);
  if (slice.selections.size() > buffer.shape.size())
    fail(Code::invalid_argument, "{} has {} dimensions, but {} are selected", slice.buffer, buffer.shape.size(),
         slice.selections.size());
  PlacedSlice placed{.rank = rank, .window = buffer.window, .dtype = buffer.dtype, .offset = buffer.offset};
  std::string label;
  Index stride = bytes_of(buffer.dtype);
  for (std::size_t d = buffer.shape.size(); d-- > 0;) {
    const Index extent = buffer.shape[d];
    const bool named = d < slice.selections.size();
    const Selected part = named ? selected(slice.selections[d], extent, scope, reader) : Selected{0, extent, ""};
    if (part.from < 0 || part.count < 0 || part.from > extent - part.count)
      fail(Code::invalid_argument, "{} of dimension {} of {} is outside [0, {}) on rank {}", part.text, d, slice.buffer,
           extent, rank.value());
    placed.offset += part.from * stride;
    if (part.count == 0) placed.empty = true;
    if (part.count != 1) placed.loops.push_back({part.count, stride});
    if (labelled && named) label = part.text + (label.empty() ? "" : ", ") + label;
    stride *= extent;
  }
  std::ranges::reverse(placed.loops);
  placed.label = labelled && slice.peer ? fmt::format("{}@{}", slice.buffer, rank.value()) : slice.buffer;
  if (!label.empty()) placed.label += "[" + label + "]";
  return placed;
}

void check_same_shape(const PlacedSlice& target, const PlacedSlice& source) {
  const bool same =
      target.empty == source.empty &&
      (target.empty || std::ranges::equal(target.loops, source.loops, {}, &SliceLoop::count, &SliceLoop::count));
  if (!same)
    fail(Code::invalid_argument, "{} has shape {}, {} has {}; they must agree", target.label, shape_text(target),
         source.label, shape_text(source));
}

void each_tile(const PlacedSlice& target, const PlacedSlice& source, Index most_bytes,
               const std::function<void(const PlacedSlice& target, const PlacedSlice& source)>& visit) {
  Index bytes = bytes_of(source.dtype);
  for (const SliceLoop& loop : source.loops) bytes *= loop.count;
  if (bytes <= most_bytes || source.loops.empty()) return visit(target, source);
  const Index count = source.loops.front().count, step = std::max<Index>(1, most_bytes / (bytes / count));
  const auto part = [&](const PlacedSlice& whole, Index first) {
    PlacedSlice piece = whole;
    piece.offset += first * whole.loops.front().stride;
    piece.loops.front().count = std::min(step, count - first);
    if (piece.loops.front().count == 1) piece.loops.erase(piece.loops.begin());
    return piece;
  };
  for (Index first = 0; first < count; first += step)
    each_tile(part(target, first), part(source, first), most_bytes, visit);
}

std::vector<Block> block_between(const PlacedSlice& target, const PlacedSlice& source) {
  if (target.empty) return {};
  const PlacedSlice* const operands[] = {&target, &source};
  JointLoops loops = joint_loops(operands);
  Block block{source.offset, target.offset, bytes_of(target.dtype)};
  if (!loops.counts.empty() && loops.strides.back() == std::vector<Index>{block.row_bytes, block.row_bytes}) {
    block.row_bytes *= loops.counts.back();
    loops.counts.pop_back();
  }
  for (std::size_t l = 0; l < loops.counts.size(); ++l)
    block.loops.push_back({loops.counts[l], loops.strides[l][1], loops.strides[l][0]});
  return {block};
}

std::vector<Block> block_to_fill(const PlacedSlice& target) {
  if (target.empty) return {};
  const PlacedSlice* const operands[] = {&target};
  const JointLoops loops = joint_loops(operands);
  Block block{0, target.offset, bytes_of(target.dtype)};
  for (std::size_t l = 0; l < loops.counts.size(); ++l)
    block.loops.push_back({loops.counts[l], 0, loops.strides[l][0]});
  return {block};
}

std::vector<Reduction> reduction_of(const PlacedSlice& target, std::span<const PlacedSlice> terms) {
  if (target.empty) return {};
  std::vector<const PlacedSlice*> operands{&target};
  for (const PlacedSlice& term : terms) operands.push_back(&term);
  const JointLoops loops = joint_loops(operands);
  const auto operand = [&](std::size_t o) {
    Operand made{operands[o]->window, operands[o]->offset, {}};
    for (const std::vector<Index>& strides : loops.strides) made.strides.push_back(strides[o]);
    return made;
  };
  Reduction reduction{loops.counts, operand(0), {}};
  for (std::size_t o = 1; o < operands.size(); ++o) reduction.terms.push_back(operand(o));
  return {reduction};
}

}  // namespace reshard
