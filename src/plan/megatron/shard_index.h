// Finds the shards of one form that overlap a given shard, by sorted runs along each dimension.
//
// All shards of a form are products of lines, one per dimension; a line is what a coordinate holds along it. Lines of
// one dimension never overlap, so the runs of all of them, sorted, are searched like the segments of one.
#pragma once

#include <map>
#include <vector>

#include "plan/megatron/shard_form.h"

namespace reshard::megatron {

// A shard found, with what it has in common with the one asked for.
struct ShardHit {
  Index shard = 0;
  std::vector<std::vector<Span>> dims;  // source: the shard found; target: the one asked for; adjacent runs merged
  Index elements() const;
};

class ShardIndex {
 public:
  // `shards`: per shard, its segments along each dimension; all different, and of one form.
  explicit ShardIndex(const std::vector<std::vector<Segments>>& shards);

  // By ascending line of the first dimension, then of the next. Adds to `steps` the runs looked at.
  std::vector<ShardHit> overlapping(const std::vector<Segments>& wanted, Index& steps) const;

 private:
  struct Run {
    Segment segment;
    Index line = 0;
  };
  struct LineHit {
    Index line = 0;
    std::vector<Span> spans;
  };
  std::vector<LineHit> hits_along(std::size_t dim, const Segments& wanted, Index& steps) const;

  std::vector<std::vector<Run>> runs_;          // per dimension, by global position
  std::map<std::vector<Index>, Index> shards_;  // by lines
};

}  // namespace reshard::megatron
