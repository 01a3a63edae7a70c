// A slice with numbers in place of expressions, and what moves between two of them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "program/symbolic/placed.h"

namespace reshard {

// `count` steps of `stride` bytes.
struct SliceLoop {
  Index count = 0;
  Index stride = 0;
};

struct PlacedSlice {
  RankId rank = {};
  int window = 0;
  Dtype dtype = Dtype::f32;
  Index offset = 0;                   // bytes of the first element
  std::vector<SliceLoop> loops = {};  // dimensions of more than one element, the slowest first
  bool empty = false;
  std::string label = {};  // "data@1[0, 0..4]"
};

// Throws Error(invalid_argument) that names slice, rank and bounds where it leaves its buffer, or the peer the world.
// Without `labelled` the label is the buffer's name alone.
PlacedSlice place_slice(const PlacedProgram& program, RankId me, const BufferSlice& slice, const Scope& scope,
                        ElementReader* reader, bool labelled);

// Throws Error(invalid_argument) that names both where their shapes differ.
void check_same_shape(const PlacedSlice& target, const PlacedSlice& source);
// Cuts two slices of one shape into the same pieces, of at most `most_bytes` at the source, or of one element; in
// order.
void each_tile(const PlacedSlice& target, const PlacedSlice& source, Index most_bytes,
               const std::function<void(const PlacedSlice& target, const PlacedSlice& source)>& visit);
// Between slices of one shape and element size: at most one, none where nothing moves.
std::vector<Block> block_between(const PlacedSlice& target, const PlacedSlice& source);
// All of `target` from one element, which begins at offset 0.
std::vector<Block> block_to_fill(const PlacedSlice& target);
// Element by element, with as few loops as all operands allow.
std::vector<Reduction> reduction_of(const PlacedSlice& target, std::span<const PlacedSlice> terms);

}  // namespace reshard
