// How other systems write layouts, in and out.
//
// A notation that cannot say what a layout does is an Error(unsupported) that names the axis or dimension: conventions
// that disagree for sizes that do not divide never convert silently.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reshard/layout.h"

namespace reshard {

// PyTorch DTensor: one placement per mesh axis, as PyTorch prints them or short:
//   "[Shard(dim=0), Replicate(), Partial(sum), _StridedShard(dim=0, sf=2)]"     "S(0) R P(sum) _S(0,2)"
// A negative dim counts from the end. Axes that cut one dimension cut it in the order listed, unless each carries its
// place in the order: "S(0)[1] S(0)[0]" lets the second axis cut first.
enum class StridedReading {
  literal,  // _StridedShard as its own rule, applied in the order listed (what DTensor computes)
  ordered,  // "the axes after it cut first": what FSDP2 over TP means; differs from literal for some uneven sizes
};
Layout from_dtensor(Dtype dtype, std::vector<Index> shape, const Mesh& mesh, std::string_view placements,
                    StridedReading reading = StridedReading::literal);
std::string to_dtensor(const Layout& layout);

// JAX: "PartitionSpec('x', None, ('y', 'z'))" or "P('x')"; one entry per dimension, a tuple cuts with its first axis
// slowest, by one flat ceil over the product; missing entries are None. `unreduced={'z'}` is a pending sum.
Layout from_jax(Dtype dtype, std::vector<Index> shape, const Mesh& mesh, std::string_view spec);
std::string to_jax(const Layout& layout);

}  // namespace reshard
