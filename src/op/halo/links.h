// Which cells of a widened shard come from which cells of whom: by intersecting what its edges ask for with the boxes
// that there are. Neighbours, corners, several hops, oneself and empty shards are all the same here.
#pragma once

#include <optional>
#include <vector>

#include "op/halo/domain.h"
#include "op/halo/strips.h"
#include "plan/box_index.h"

namespace reshard::halo {

// Cells [holder, holder + length) of one dimension come from owner, owner + step, .. Widened indices of both.
struct Run {
  Index holder = 0;
  Index owner = 0;
  Index length = 0;
  Index step = 1;
};

// A box of the holder: the product of its runs.
struct Link {
  std::size_t holder = 0;  // numbers of pieces
  std::size_t owner = 0;
  std::vector<Run> dims;
  bool crosses = false;  // a pole, an odd number of times
  Index elements() const;
};

class Links {
 public:
  // `domain` must outlive it.
  explicit Links(const Domain& domain);

  // Of all ghosts of a piece that are no constants, straight from their owners.
  std::vector<Link> into(std::size_t holder) const { return links(holder, std::nullopt); }
  // Of its ghosts along the dimension that is number `phase` in the order of order_of(): with those of the dimensions
  // before it, which their owners have by then, and without those of the dimensions after it.
  std::vector<Link> into(std::size_t holder, std::size_t phase) const { return links(holder, phase); }

 private:
  // A part of one dimension of the holder.
  struct Part {
    Strip strip;
    bool is_carried = false;  // the whole widened dimension, as its owner has it
  };
  // All parts of one dimension; and, of longitudes, for what has crossed a pole.
  struct Parts {
    std::vector<Part> plain;
    std::vector<Part> turned;
  };

  std::vector<Link> links(std::size_t holder, std::optional<std::size_t> phase) const;
  std::vector<Parts> parts_of(const Piece& piece, std::optional<std::size_t> phase) const;
  std::vector<std::vector<Part>> chosen(const std::vector<Parts>& parts, bool crosses) const;
  void add(std::size_t holder, const std::vector<const Part*>& box, bool crosses, std::vector<Link>& links) const;
  Run run_of(const Part& part, const Piece& holder, const Piece& owner, std::size_t dim) const;

  const Domain& domain_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> pieces_;  // that are not empty, as the index numbers them
  std::optional<BoxIndex> index_;
};

}  // namespace reshard::halo
