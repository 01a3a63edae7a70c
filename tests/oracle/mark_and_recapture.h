// The m2m map of two layouts as it was first found: every cell of the source is marked with who holds it and where, the
// marks travel, and the target reads them off. No closed form, no arithmetic on shards.
#pragma once

#include <map>
#include <vector>

#include "oracle/ownership.h"

namespace reshard::oracle {

// What a mark is stored in. A float32 holds whole numbers up to 2^24 only: larger marks come back as others.
enum class MarkStore { exact, float32 };

struct Recaptured {
  Index rank = 0;
  std::vector<Index> index;  // in the grid of one shard's cells
  friend bool operator==(const Recaptured&, const Recaptured&) = default;
};

struct MarkedMap {
  std::vector<Index> middle;
  std::vector<Index> source_num_slicers;
  std::vector<Index> target_num_slicers;
  // [source rank][source cell] -> targets in order of the target mesh; no targets: only a reduction takes place.
  std::map<Index, std::map<std::vector<Index>, std::vector<Recaptured>>> routes;
};

// Ranks along one dimension: the product of the mesh axes that cut it.
std::vector<Index> shard_counts(const Layout& layout);

// fold(rank; index) in `base`, and back. Throws std::overflow_error where 64 bits do not hold it.
Index mark_of(Index rank, const std::vector<Index>& index, Index base);
Recaptured read_mark(Index mark, std::size_t dims, Index base);
Index stored_in(MarkStore store, Index mark);

// Of several ranks that mark a cell, the target at place t of its mesh reads that of the (t mod holders)-th. Partial
// axes replicate; all ranks linked by their sub-groups have an entry wherever one of them has. Needs layouts that have
// the shape of the middle grid as well as their own.
MarkedMap mark_and_recapture(const Layout& source, const Layout& target, MarkStore store = MarkStore::exact);

}  // namespace reshard::oracle
