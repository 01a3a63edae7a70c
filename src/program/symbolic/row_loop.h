// A loop that moves one slice an iteration, at places that memory names: what an exchange by index does for every row.
// Its iterations differ by two offsets, which take tens of nanoseconds where a statement takes microseconds.
#pragma once

#include <optional>
#include <vector>

#include "program/symbolic/placed_slice.h"
#include "program/symbolic/row_expression.h"

namespace reshard {

class RowLoop {
 public:
  // Nothing where the loop does anything else, or its first iteration, whose variable is in `scope`, moves nothing.
  static std::optional<RowLoop> of(const PlacedProgram& program, RankId me, const For& loop, const Scope& scope,
                                   ElementReader& reader);

  // What iteration i moves; nothing where it leaves a buffer or cannot be evaluated: run it as a statement, which says
  // why.
  std::optional<Block> block(Index i, MemoryReader& memory) const;

 private:
  // One index that depends on the iteration.
  struct Moving {
    RowExpression index;
    Index extent = 0;
    Index stride = 0;
    Index first = 0;
  };
  using MovingList = std::vector<Moving>;
  static std::optional<MovingList> moving_of(const PlacedProgram& program, RankId me, const BufferSlice& slice,
                                             RankId rank, const For& loop, const Scope& scope, ElementReader& reader);
  static std::optional<Index> shift(const MovingList& list, Index i, MemoryReader& memory);

  Block first_;
  MovingList source_, target_;
};

}  // namespace reshard
