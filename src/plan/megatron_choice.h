// Megatron's choice of the copy that sends, from the target's rank alone.
//
// Every rank that stores any part of the tensor is a candidate. A target that is one takes its own copy. Otherwise
// candidates fall into buckets, data-parallel groups: here the ranks that differ only along the first replicated axis
// of more than one rank. With b buckets in ascending order of their ranks, target rank r takes bucket r mod b, and
// there entry (r div b) mod (entries) in ascending order; where there is one bucket, always its first entry. The whole
// tensor then comes from the ranks that share the candidate's place along all replicated axes. So with tensor
// parallelism a bucket is one place along it, and what changes with r is the copy r div b. Neither bytes nor hosts
// matter.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

class MegatronChoice {
 public:
  // Precondition: an axis of more than one rank is replicated.
  explicit MegatronChoice(const Layout& source);

  // Where the candidate that `target` takes lies in the source mesh.
  Coordinate candidate(RankId target) const;

 private:
  Coordinate bucket(Index at) const;
  bool is_candidate(const Coordinate& coordinate) const;
  bool in_closed_form();
  void list();

  const Layout& source_;
  int data_parallel_ = 0;    // the axis along which a bucket lies
  Coordinate first_;         // selected coordinates, 0 along the others
  std::vector<int> others_;  // axes of more than one rank that tell buckets apart, the slowest in ranks first
  Index buckets_ = 1;
  std::vector<std::pair<RankId, Coordinate>> listed_;  // by ascending rank; empty where others_ give the order
};

}  // namespace reshard
