// A cut: a rule that gives each coordinate of some mesh axes its part of one tensor dimension.
//
// A cut takes an axis of n elements, divides it among the p coordinates of its mesh axes, and selects for each
// coordinate an ordered list of intervals of [0, n). A dimension is cut by a list of cuts; each one cuts what the one
// before it left to the coordinate.
//
// Every cut is two choices:
//   pieces  how the axis is grouped first (fused gate/up, packed q/k/v); each piece is divided on its own, and a
//           coordinate holds its share of every piece, in order;
//   rule    how one piece of m units is divided among p coordinates.
// A cut may work in units of u elements (an attention head, a quantisation block): it then divides n / u units.
//
//   text                   meaning                                                         convention of
//   tp                     chunk: c = ceil(n/p), [i c, min((i+1) c, n))                    DTensor, torch.chunk
//   (a b)                  flat: one cut over the product of several axes, a slower        XLA, JAX
//   tp:balanced            the first n mod p coordinates get one more                      torch-harmonics, PETSc
//   tp:balanced-last       the last n mod p coordinates get one more                       2DECOMP, P3DFFT
//   tp:floor               [floor(n i / p), floor(n (i+1) / p))                            PencilArrays
//   tp:even                n must be a multiple of p                                       Megatron
//   tp:sizes[3,0,4]        as listed                                                       "v" collectives
//   tp:cyclic(b)           blocks of b, dealt round robin                                  ScaLAPACK
//   tp:window(pad)         (n + pad) / p stored elements each; padding belongs to nobody   Megatron GTP
//   tp:strided(s)          s equal pieces, each divided evenly                             Megatron partition_stride
//   tp:packed[b1,..]       pieces of b1 p, b2 p, .. elements, each divided evenly          Megatron partition_sizes
//   tp:parts[n1,..]        pieces of n1, n2, .. elements, each divided by chunk            fused q/k/v, any rule
//   tp:strided-shard(f)    f pieces by the ceil rule, each divided by chunk                DTensor _StridedShard
// A grouping takes another rule for its pieces after a colon ("tp:parts[8,2,2]:balanced"), a unit follows a slash
// ("tp:balanced/128"), and a part may have a unit of its own ("parts[4096/512, 1024/128]").
//
// Thread rule: immutable once in a layout.
#pragma once

#include <string>
#include <vector>

#include "reshard/index.h"

namespace reshard {

enum class Rule { chunk, balanced, balanced_last, floor, even, sizes, cyclic, window };
enum class Pieces { whole, strided, packed, parts, strided_shard };

struct Cut {
  std::vector<int> axes;  // leaf axes of the mesh, slowest first
  Pieces pieces = Pieces::whole;
  std::vector<Index> piece_sizes;  // packed: per coordinate; parts: of the axis, in elements
  std::vector<Index> piece_units;  // parts: unit of each piece; empty = `unit` for all
  Index piece_count = 1;           // strided, strided_shard
  Rule rule = Rule::chunk;
  std::vector<Index> sizes;  // Rule::sizes: elements of each coordinate
  Index block = 1;           // Rule::cyclic: b; Rule::window: pad
  Index unit = 1;

  friend bool operator==(const Cut&, const Cut&) = default;
};

}  // namespace reshard
