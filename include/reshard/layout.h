// A layout: how one tensor lies on a mesh. The value that plans, programs and files are built from.
//
// Text, canonical and complete (`layout(l.text()) == l`):
//
//   f32[8,8] on (y=2, x=2) {0: y, 1: x}
//   bf16[8192,8192] on trainer(dp=2, tp=4) {0: tp dp}           dimension 0 cut by tp, then by dp
//   bf16[4096,4096] on (tp=8 as (kv=4, rep=2)) {0: kv}          replicated over rep
//   f32[16] on (pp=4, tp=2) {0: tp, pp: at(2)}                  exists only where pp is 2
//   f32[16] on (dp=4) {dp: partial(sum)}                        a pending sum
//   f32[16] on (tp=4) {tp: varying}                             replicated, and each rank goes on differently
//   bf16[6144,4096][0:4096, :] on (tp=4) {0: tp}                first rows of a fused tensor: shape [4096,4096]
//   bf16[8,16,4][3, :, :] on (ep=4) {0: ep}                     entry 3 of a stack: shape [16,4]
//   f32[3,4] on (x=2) {1: x} order(1,0)                         column-major in memory
//   f32[3,4] on (x=2) {1: x} strides(8,1)                       rows 8 elements apart on every rank
//   bf16[8,8] on (tp=2) {0: tp} private(blocked)                repacked by its owner: described, never moved
//
// Cuts (see cut.h) always act on the whole stored tensor; a view then selects a box of it. Axes that cut nothing are
// replicated unless listed by name. Who holds what is the same for replicated and varying: only operators (op.h) tell
// them apart, since the gradient of a varying value is a pending sum.
//
// Cost: describing, comparing, printing and hashing are O(axes + dims), never O(ranks), except for listed meshes.
// Thread rule: immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reshard/cut.h"
#include "reshard/dtype.h"
#include "reshard/error.h"
#include "reshard/mesh.h"
#include "reshard/reduce_op.h"
#include "reshard/region.h"

namespace reshard {

// What a mesh axis does that cuts no dimension.
struct AxisKind {
  enum class Kind { replicate, partial, at, cut };
  Kind kind = Kind::replicate;
  ReduceOp op = ReduceOp::sum;  // partial
  Index at = 0;                 // at
  bool varying = false;         // replicate: each rank goes on differently with the same value
  friend bool operator==(const AxisKind&, const AxisKind&) = default;
};

// A box of a larger tensor, per stored dimension.
struct Slice {
  GlobalIndex begin;
  Index length = 0;
  bool dropped = false;  // selected by a single index: no dimension of the view
  friend bool operator==(const Slice&, const Slice&) = default;
};

// How local memory is ordered. At most one of the three is given; none means row-major.
struct StorageOrder {
  std::vector<int> order;      // stored dimensions, slowest first
  std::vector<Index> strides;  // elements, per stored dimension, the same on every rank
  // The name of a form that only its owner knows (tiles, swizzles, shuffled experts). Nothing may read or write it:
  // plans from and to such a layout are refused.
  std::string form;
  friend bool operator==(const StorageOrder&, const StorageOrder&) = default;
};

struct LayoutSpec {
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape = {};  // of the stored tensor
  Mesh mesh = {};
  std::vector<std::vector<Cut>> cuts = {};  // per stored dimension; may be shorter than shape
  std::vector<AxisKind> kinds = {};         // per leaf axis; `cut` is filled in; may be empty
  std::vector<Slice> view = {};             // per stored dimension; empty = all of it
  StorageOrder storage = {};
};

class Layout {
 public:
  // Checks everything once: throws Error(invalid_argument) that names dimension, axis, value and the way out.
  explicit Layout(LayoutSpec spec);

  Dtype dtype() const { return spec_.dtype; }
  const Mesh& mesh() const { return spec_.mesh; }
  // Of the view, which is the whole tensor unless a slice was given.
  const std::vector<Index>& shape() const { return shape_; }
  int dims() const { return static_cast<int>(shape_.size()); }
  Index elements() const { return elements_; }
  Index bytes() const { return elements_ * bytes_of(spec_.dtype); }
  // Everything, in stored terms.
  const LayoutSpec& spec() const { return spec_; }
  // Stored dimension behind each dimension of shape().
  const std::vector<int>& stored_dims() const { return stored_dims_; }
  bool is_view() const { return !spec_.view.empty(); }
  bool has_partial() const;

  // What `rank` holds; not held for a rank outside the mesh. Cost: O(cuts + segments of each cut).
  // Throws Error(unsupported) past 2^24 segments along one dimension.
  Region region(RankId rank) const;
  Region region_at(std::span<const Index> coordinate) const;
  // How `rank` stores it. For a view, the buffer is that of the whole stored tensor's shard.
  // Throws Error(unsupported) for a private form.
  LocalStorage storage(RankId rank) const;
  LocalStorage storage_at(std::span<const Index> coordinate) const;
  // Bytes of the buffer `rank` needs; 0 outside the mesh. Throws as storage() does.
  Index local_bytes(RankId rank) const;

  // The same cuts for another stored shape or dtype; on another mesh of the same axes.
  Layout with_shape(std::vector<Index> shape) const;
  Layout with_dtype(Dtype dtype) const;
  // The logical transpose on the same storage: dimension d of the result is dimension order[d] of this one.
  Layout transposed(std::span<const int> order) const;

  std::string text() const;
  // 64-bit digest of text(): equal layouts have equal fingerprints on every rank, run and machine.
  std::uint64_t fingerprint() const;
  friend bool operator==(const Layout& a, const Layout& b);

 private:
  LayoutSpec spec_;
  std::vector<Index> shape_;
  std::vector<int> stored_dims_;
  Index elements_ = 1;
};

// Throws Error(invalid_argument) that shows the text with the position of the fault.
Layout layout(std::string_view text);

// True if every rank holds the same elements under both (compared by what is held, not by how it is written; storage
// order does not count). Cost: O(ranks).
bool same_ownership(const Layout& a, const Layout& b);

}  // namespace reshard
