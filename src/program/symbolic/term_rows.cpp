#include "program/symbolic/term_rows.h"

#include <algorithm>

namespace reshard {
namespace {

bool is_one_index(const Selection& selection) { return selection.kind == Selection::Kind::at; }

Index dimensions_of(const PlacedProgram& program, RankId me, const BufferSlice& slice) {
  const auto dropped = std::ranges::count_if(slice.selections, is_one_index);
  return static_cast<Index>(program.buffer(slice.buffer, me).shape.size()) - dropped;
}

// Bytes from one row to the next, along the first dimension that is not one index.
Index stride_of_rows(const PlacedProgram& program, RankId me, const BufferSlice& slice) {
  const PlacedBuffer& buffer = program.buffer(slice.buffer, me);
  const auto first = std::ranges::find_if_not(slice.selections, is_one_index) - slice.selections.begin();
  Index stride = bytes_of(buffer.dtype);
  for (std::size_t d = buffer.shape.size(); d-- > static_cast<std::size_t>(first) + 1;) stride *= buffer.shape[d];
  return stride;
}

}  // namespace

std::vector<PlacedSlice> term_rows(const PlacedProgram& program, RankId me, const BufferSlice& target,
                                   const BufferSlice& term, const PlacedSlice& whole) {
  if (dimensions_of(program, me, term) != dimensions_of(program, me, target) + 1) return {whole};
  const Index stride = stride_of_rows(program, me, term);
  PlacedSlice row = whole;
  // Loops of one step are left out, so there is one of rows only where its stride is theirs.
  const bool many = !row.loops.empty() && row.loops.front().stride == stride;
  const Index count = many ? row.loops.front().count : 1;
  if (many) row.loops.erase(row.loops.begin());
  row.empty = std::ranges::any_of(row.loops, [](const SliceLoop& loop) { return loop.count == 0; });
  std::vector<PlacedSlice> rows;
  for (Index i = 0; i < count; ++i, row.offset += stride) rows.push_back(row);
  return rows;
}

}  // namespace reshard
