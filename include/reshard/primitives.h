// The distributed primitives by the names their users know, each an operator over one mesh axis, or over the polar or
// the azimuth axis of a grid.
//
//   name                     along the axis          forward          adjoint
//   copy_to                  invariant -> varying    nothing          all-reduce
//   reduce_from              partial -> invariant    all-reduce       nothing
//   all_reduce               partial -> varying      all-reduce       all-reduce
//   scatter_to               invariant -> cut        own part         all-gather
//   gather_from              cut -> invariant        all-gather       own part
//   gather_from_copy_to      cut -> varying          all-gather       reduce-scatter
//   reduce_from_scatter_to   partial -> cut          reduce-scatter   all-gather
//   transpose                cut -> cut              all-to-all       all-to-all back
//
// Names and meanings are those of torch-harmonics, all_reduce apart, which it lacks: what is reduced, and on which
// ranks then go on differently. What is different here: the sizes of a split are those of the layouts, in both
// directions, never worked out anew; parts may be empty; every dtype that can be added is exact or rounded once
// (plan.h); every name exists for both axes; and a gather needs no list of sizes.
//
// `in` is the layout of what the operator takes. `dim` may be negative. Three cases are kept apart:
//   an axis that the mesh does not have       nobody to talk to: the operator is the identity, of any kind
//   an axis of one rank                       an operator like any other
//   a Grid that was not given its mesh        Error(invalid_argument) that says how
// All throw Error(invalid_argument) for a dimension out of range, an axis that does something else to `in` than the
// name says, and whatever LinearOp refuses.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reshard/cut.h"
#include "reshard/layout.h"
#include "reshard/mesh.h"
#include "reshard/op.h"

namespace reshard::op {

// How a dimension is split: a cut whose axes are not looked at.
using Split = Cut;
// Divmod, the first parts one longer: torch-harmonics, and the default here.
Split balanced();
// As listed, one size for each rank of the axis.
Split sizes(std::vector<Index> sizes);

LinearOp copy_to(const Layout& in, std::string_view axis);
LinearOp reduce_from(const Layout& in, std::string_view axis);
LinearOp all_reduce(const Layout& in, std::string_view axis);
LinearOp scatter_to(const Layout& in, std::string_view axis, int dim, const Split& split = balanced());
LinearOp gather_from(const Layout& in, std::string_view axis, int dim);
LinearOp gather_from_copy_to(const Layout& in, std::string_view axis, int dim);
LinearOp reduce_from_scatter_to(const Layout& in, std::string_view axis, int dim, const Split& split = balanced());
// From whole along `to` and cut along `from`, to cut along `to` and whole along `from`.
LinearOp transpose(const Layout& in, std::string_view axis, int to, int from, const Split& split = balanced());
// The same with names: transpose(x.layout(), {.gather = 1, .split = 0, .axis = "azimuth"}).
struct Transpose {
  int gather = 0;  // dimension that is cut before, and whole afterwards
  int split = 0;   // dimension that is whole before, and cut afterwards
  std::string_view axis;
  Split parts = balanced();
};
LinearOp transpose(const Layout& in, const Transpose& dims);

// Each rank hands its part to the one `by` places before it along the axis, cyclic: number r then holds part r + by.
// The result has the same cuts on a mesh whose ranks are shifted; after as many passes of one place as there are ranks
// all is home again. One pass is a step of a ring, as those of ring attention; the adjoint hands back. Parts may differ
// in size. Between meshes nothing may vary or pend. Cost: O(ranks), as a shifted mesh is a list.
LinearOp ring_pass(const Layout& in, std::string_view axis, Index by = 1);

// A grid of ranks over a sphere: which axes of its mesh cut latitudes (polar) and longitudes (azimuth).
class Grid {
 public:
  // Not initialised: what takes a Grid then says how to make one.
  Grid() = default;
  // An axis that the mesh does not have is no axis: the names that would use it are the identity.
  explicit Grid(Mesh mesh, std::string polar = "polar", std::string azimuth = "azimuth");

  bool is_initialized() const { return is_initialized_; }
  // Whether there is an axis; its ranks, and this rank's number along it: 1 and 0 where there is none. Throw
  // Error(invalid_argument) for a grid that is not initialised, and for a rank that is not in the mesh.
  bool has_polar() const;
  bool has_azimuth() const;
  Index polar_size() const;
  Index azimuth_size() const;
  Index polar_rank(RankId rank) const;
  Index azimuth_rank(RankId rank) const;
  // The name of the axis, for the operator `name` on a tensor laid out as `in`: throws where the grid is not
  // initialised, and where `in` is on another mesh.
  const std::string& polar(std::string_view name, const Layout& in) const;
  const std::string& azimuth(std::string_view name, const Layout& in) const;

 private:
  void check(std::string_view name) const;
  void check(std::string_view name, const Layout& in) const;
  bool is_initialized_ = false;
  Mesh mesh_;
  std::string polar_, azimuth_;
};

// dims = {to, from}, as transpose().
LinearOp distributed_transpose_polar(const Grid& grid, const Layout& in, std::pair<int, int> dims,
                                     const Split& split = balanced());
LinearOp distributed_transpose_azimuth(const Grid& grid, const Layout& in, std::pair<int, int> dims,
                                       const Split& split = balanced());
LinearOp copy_to_polar_region(const Grid& grid, const Layout& in);
LinearOp copy_to_azimuth_region(const Grid& grid, const Layout& in);
LinearOp reduce_from_polar_region(const Grid& grid, const Layout& in);
LinearOp reduce_from_azimuth_region(const Grid& grid, const Layout& in);
LinearOp all_reduce_polar_region(const Grid& grid, const Layout& in);
LinearOp all_reduce_azimuth_region(const Grid& grid, const Layout& in);
LinearOp scatter_to_polar_region(const Grid& grid, const Layout& in, int dim, const Split& split = balanced());
LinearOp scatter_to_azimuth_region(const Grid& grid, const Layout& in, int dim, const Split& split = balanced());
LinearOp gather_from_polar_region(const Grid& grid, const Layout& in, int dim);
LinearOp gather_from_azimuth_region(const Grid& grid, const Layout& in, int dim);
LinearOp gather_from_copy_to_polar_region(const Grid& grid, const Layout& in, int dim);
LinearOp gather_from_copy_to_azimuth_region(const Grid& grid, const Layout& in, int dim);
LinearOp reduce_from_scatter_to_polar_region(const Grid& grid, const Layout& in, int dim,
                                             const Split& split = balanced());
LinearOp reduce_from_scatter_to_azimuth_region(const Grid& grid, const Layout& in, int dim,
                                               const Split& split = balanced());

// The part of each of `parts` ranks of a dimension of `size`. Parts may be empty: 3 over 4 is 1, 1, 1, 0.
std::vector<Index> compute_split_shapes(Index size, Index parts, const Split& split = balanced());

// The ranks before and after `rank` along an axis, cyclic: of one rank, itself; of two, the other one twice.
// Throws Error(invalid_argument) for an axis or a rank that the mesh does not have.
struct Neighbors {
  RankId previous;
  RankId next;
  friend bool operator==(const Neighbors&, const Neighbors&) = default;
};
Neighbors get_group_neighbors(const Mesh& mesh, std::string_view axis, RankId rank);

// All dimensions but the last `trailing` become one, with rows of zeros behind up to `least` of them, so that it can be
// cut for `least` ranks without an empty part: [2,3,4,5] with least 8 is [8,4,5], its last two rows zero. Nothing moves
// between ranks. The adjoint drops the padding. Throws Error(invalid_argument) when a leading dimension is cut, or the
// tensor is a view or not stored row-major.
LinearOp flatten_and_pad_leading_dims(const Layout& in, Index least, int trailing = 2);
// Back: drops the padding and gives the leading dimensions the extents `lead`. The trailing ones may have changed.
// Throws Error(invalid_argument) when the leading dimension is shorter than the product of `lead`.
LinearOp unpad_and_unflatten_leading_dims(const Layout& in, const std::vector<Index>& lead, int trailing = 2);

}  // namespace reshard::op
