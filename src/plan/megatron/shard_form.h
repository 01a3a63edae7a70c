// What a record says about cutting, checked: the form that all members of its groups share, and the owner's place in
// it.
#pragma once

#include <span>

#include "reshard/megatron.h"

namespace reshard::megatron {

struct ShardForm {
  std::vector<Index> stored;  // shape, padding included
  Dtype dtype = Dtype::f32;
  int tp_dim = -1;  // -1 = not cut by TP
  Index tp_size = 1;
  Index stride = 1;
  std::vector<Index> sizes;  // per rank; none = by stride
  bool is_gtp = false;
  Index gtp_size = 1;
  Index pad = 0;
  // Of fused experts: which of how many parts of the experts this is; parts hold different tensors of one name.
  bool fused = false;
  Index ep_size = 1;
  Index ep_index = 0;
  friend auto operator<=>(const ShardForm&, const ShardForm&) = default;

  // Size of dimension `dim` after GTP is joined and padding removed, before TP is joined.
  Index tp_local(int dim) const;
  std::vector<Index> global_shape() const;
};

// Which of the form's shards.
struct ShardPlace {
  Index tp = 0;
  Index gtp = 0;
  friend auto operator<=>(const ShardPlace&, const ShardPlace&) = default;
};

// Throws as ShardPlanner::plan does for a record that is wrong in itself.
ShardForm form_of(const Parameter& parameter);
// Precondition: form_of() accepted the record.
ShardPlace place_of(const Parameter& parameter);
// What a shard stores of the whole tensor, per dimension.
std::vector<Segments> segments_of(const ShardForm& form, const ShardPlace& place);

// The word for what first differs, and both values: "partition_stride is 2 on rank 0 and 1 on rank 4".
std::string difference_text(const ShardForm& a, RankId a_rank, const ShardForm& b, RankId b_rank);
// "tensor 'decoder.weight' of rank 3".
std::string record_text(const Parameter& parameter);
std::string list_text(std::span<const Index> values);
std::string ranks_text(std::vector<RankId> ranks);  // ascending, at most 16 of them

}  // namespace reshard::megatron
