#include "program/symbolic/term_rows.h"

#include <algorithm>

namespace reshard {
namespace {

bool is_one_index(const Selection& selection) { return selection.kind == Selection::Kind::at; }

Index dimensions_of(const PlacedProgram& program, RankId me, const BufferSlice& slice) {
  const auto dropped = std::ranges::count_if(slice.selections, is_one_index);
  return static_cast<Index>(program.buffer(slice.buffer, me).shape.size()) - dropped;
}

}  // namespace

std::vector<BufferSlice> term_rows(const PlacedProgram& program, RankId me, const BufferSlice& target,
                                   const BufferSlice& term, const Scope& scope, ElementReader* reader) {
  if (dimensions_of(program, me, term) != dimensions_of(program, me, target) + 1) return {term};
  BufferSlice row = term;
  const auto first = std::ranges::find_if_not(row.selections, is_one_index);
  const auto dim = static_cast<std::size_t>(first - row.selections.begin());
  if (first == row.selections.end()) row.selections.emplace_back();
  Selection& selection = row.selections[dim];
  const bool all = selection.kind == Selection::Kind::all;
  const Index from = all ? 0 : evaluate(selection.from, scope, reader);
  const Index to = all ? program.buffer(term.buffer, me).shape.at(dim) : evaluate(selection.to, scope, reader);
  std::vector<BufferSlice> rows;
  for (Index i = from; i < to; ++i) {
    selection = {Selection::Kind::at, i, 0};
    rows.push_back(row);
  }
  return rows;
}

}  // namespace reshard
