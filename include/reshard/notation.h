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

// XLA: HLO sharding text, as printed by the compiler. Dimension k of the array of tiles is mesh axis "dk", and cuts
// dimension k of the tensor by one flat ceil; dimensions of one tile have no axis.
//   "{devices=[2,1,4]<=[2,4]T(1,0) last_tile_dim_replicate}"   numbers 0 to 7, reshaped and transposed
//   "{devices=[2,2]0,3,1,2}"                                   listed
//   "{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}"
//   "{replicated}", "{unreduced}", "{maximal device=3}"
// `devices`: how many there are; needed for the forms that do not say it, else checked unless it is 0.
// Throws Error(invalid_argument) where products disagree or a device comes twice.
Layout from_hlo(Dtype dtype, std::vector<Index> shape, std::string_view sharding, Index devices = 0);
// Canonical, as the compiler writes it. A mesh of other ranks than 0 to n-1 is listed.
std::string to_hlo(const Layout& layout);

// ScaLAPACK: the array descriptor of a block-cyclic matrix (DTYPE_ and CTXT_ left out) and the grid it refers to.
// Local storage is column-major.
enum class GridOrder { row_major, column_major };  // BLACS_GRIDINIT 'R' and 'C': how ranks are numbered in the grid
struct ScalapackMatrix {
  Index m = 0, n = 0;        // M_, N_
  Index mb = 1, nb = 1;      // MB_, NB_: rows and columns of a block
  Index rsrc = 0, csrc = 0;  // RSRC_, CSRC_: process row and column of the first block
  Index lld = 0;             // LLD_, the same on every rank; 0: the rows that each rank has
  Index process_rows = 1, process_columns = 1;
  GridOrder order = GridOrder::row_major;
  RankId base = {};  // of process (0, 0)
  friend bool operator==(const ScalapackMatrix&, const ScalapackMatrix&) = default;
};
// On a mesh (p=.., q=..) whose coordinate (0, 0) is the process of the first block.
// Throws Error(invalid_argument) for sizes that make no descriptor.
Layout from_scalapack(Dtype dtype, const ScalapackMatrix& matrix);
// Row-major where a grid of one row or column may be either. Cost: O(ranks).
ScalapackMatrix to_scalapack(const Layout& layout);

}  // namespace reshard
