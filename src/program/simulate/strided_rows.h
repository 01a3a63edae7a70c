// The rows of blocks and the elements of reductions, one by one.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "reshard/program.h"

namespace reshard::simulation {

inline Index rows_of(const Block& block) {
  Index rows = 1;
  for (const Loop& loop : block.loops) rows *= loop.count;
  return rows;
}

struct RowPlace {
  Index source = 0;
  Index target = 0;
};

// Where row number `row` of a block lies; the last loop is the fastest.
inline RowPlace row_of(const Block& block, Index row) {
  RowPlace place{block.source_offset, block.target_offset};
  for (auto loop = block.loops.rbegin(); loop != block.loops.rend(); ++loop) {
    place.source += row % loop->count * loop->source_stride;
    place.target += row % loop->count * loop->target_stride;
    row /= loop->count;
  }
  return place;
}

inline Index elements_of(const Reduction& reduction) {
  Index elements = 1;
  for (const Index count : reduction.counts) elements *= count;
  return elements;
}

// Where element number `element` of an operand lies.
inline Index element_offset(const Reduction& reduction, const Operand& operand, Index element) {
  Index offset = operand.offset;
  for (std::size_t loop = reduction.counts.size(); loop-- > 0;) {
    offset += element % reduction.counts[loop] * operand.strides[loop];
    element /= reduction.counts[loop];
  }
  return offset;
}

inline Index bytes_of_blocks(const Operation& operation) {
  Index bytes = 0;
  for (const Block& block : operation.blocks) bytes += block.bytes();
  return bytes;
}

inline Index bytes_of_results(const Operation& operation) {
  Index elements = 0;
  for (const Reduction& reduction : operation.reductions) elements += elements_of(reduction);
  return elements * bytes_of(operation.dtype);
}

}  // namespace reshard::simulation
