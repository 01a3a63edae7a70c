// Halos: tensors whose shards are widened by cells of their neighbours, and the adjoint, which adds them back.
//
//   thread_ranks(6, [](World& world) {
//     const Layout field = layout("f64[5,7] on (y=2, x=3) {0: y, 1: x}");
//     const Halo halo{{{.dim = 0, .lo = 1, .hi = 1, .edge = HaloEdge::zero()},
//                      {.dim = 1, .lo = 1, .hi = 1, .edge = HaloEdge::periodic()}}};
//     Tensor x = world.allocate(field);
//     Tensor wide = halo_exchange(world, x, halo);             // shards of [h+2, w+2], corners too
//     Tensor gx = halo_reduce(world, wide, field, halo);       // each cell: its own value and those of its ghosts
//   });
//
// A rank's shard of n cells along a widened dimension becomes lo + n + hi cells: ghosts, its own, ghosts. A rank that
// holds no cell along a dimension has no ghosts there, so that it holds nothing, and takes part. A ghost is the cell of
// the tensor that lies there, however many shards away; where there is none the edge says what it is. A ghost beyond
// the ends of several dimensions is what every edge makes of its own index; a constant wins, that of the last dimension
// listed where there are two.
//
// Widened shards are an ordinary layout: that of the widened pieces laid end to end, which is cut as listed. Of rows
// [4,3,3] with one ghost at either side it is "f32[16] on (x=3) {0: x:sizes[6,5,5]}".
//
// Axes that do not cut the tensor split its ranks in groups, each of which exchanges for itself. A pending sum is
// widened term by term.
//
// Reduce is the adjoint: transfers with their ends swapped, and added instead of replaced. The rule: a cell becomes its
// own value, plus those of its ghosts in ascending order of who holds them (place in the mesh), those of one rank in
// row-major order of where they lie, folded as sums of plan.h are: 8- and 16-bit floats in f32 with one rounding at the
// end, integers exactly, modulo their width. It replaces what the target held. Ghosts of zero and constant edges are
// nobody's and drop out.
//
// Cost: the ghosts of a rank once each, one message from each rank that owns some (direct); a cell that is its own
// ghost is copied. O(ranks) to plan.
//
// Thread rule: values and plans are immutable; a HaloExchange is confined, as its world.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reshard/boxes.h"
#include "reshard/executor.h"
#include "reshard/layout.h"
#include "reshard/op.h"
#include "reshard/program.h"
#include "reshard/tensor.h"
#include "reshard/world.h"

namespace reshard {

namespace op {
class Grid;  // primitives.h
}

// What ghosts beyond the ends of a dimension of n cells hold. Any width will do, also beyond n.
struct HaloEdge {
  enum class Kind {
    none,      // there are none: shards at an end are widened inwards only
    zero,      // 0
    constant,  // `value`, rounded to the dtype as a cast from f32 rounds; the map is then affine, not linear
    clamp,     // the nearest cell: -k is 0
    mirror,    // reflected at the last cell, which is not repeated: -k is k (PETSc's MIRROR, numpy's reflect)
    periodic,  // -k is n - k
    pole,      // of latitudes: -k is k - 1 of the opposite longitude, half of all longitudes away
  };
  Kind kind = Kind::none;
  double value = 0;    // constant
  int longitude = -1;  // pole: the dimension of longitudes, even in number; halos along it are periodic
  bool flips = false;  // pole: what has crossed it changes its sign, as horizontal components of vectors do

  static HaloEdge none() { return {}; }
  static HaloEdge zero() { return {.kind = Kind::zero}; }
  static HaloEdge constant(double value) { return {.kind = Kind::constant, .value = value}; }
  static HaloEdge clamp() { return {.kind = Kind::clamp}; }
  static HaloEdge mirror() { return {.kind = Kind::mirror}; }
  static HaloEdge periodic() { return {.kind = Kind::periodic}; }
  static HaloEdge pole(int longitude, bool flips = false) {
    return {.kind = Kind::pole, .longitude = longitude, .flips = flips};
  }
  std::string text() const;  // "pole(2, flips)"
  friend bool operator==(const HaloEdge&, const HaloEdge&) = default;
};

// `lo` ghosts before a rank's own cells, `hi` after them. Negative dimensions count from the last one back.
struct HaloDim {
  int dim = 0;
  Index lo = 0;
  Index hi = 0;
  HaloEdge edge = {};
  friend bool operator==(const HaloDim&, const HaloDim&) = default;
};

struct Halo {
  std::vector<HaloDim> dims = {};
  std::string text() const;  // "0: 1+1 zero, 1: 2+0 periodic"
  friend bool operator==(const Halo&, const Halo&) = default;
};

// How ghosts beyond the ends of several dimensions come; the result is the same to the bit.
enum class HaloScheme {
  direct,     // from whoever owns them: up to 3^d - 1 messages to a rank, in one round
  two_phase,  // dimension after dimension, corners ride along: up to 2 d messages in d rounds
};

// In indices of one rank's memory.
struct LocalBox {
  std::vector<LocalIndex> offsets;
  std::vector<Index> sizes;
  Index elements() const;
  friend bool operator==(const LocalBox&, const LocalBox&) = default;
};

// One rank's shard once it is widened.
struct HaloShard {
  bool held = false;
  std::vector<Index> extents;
  LocalBox own;       // the cells that were there before
  LocalBox interior;  // of these, those from which `lo` before and `hi` after, in every dimension, are own cells too
  LocalStorage storage;
};

// Whether a widened shard is another tensor than what is widened, or holds it already.
enum class HaloForm { apart, in_place };

class HaloPlan {
 public:
  // Throws Error(invalid_argument) that names dimension and value for a dimension that is not there or listed twice, a
  // negative width, a constant that the dtype does not have, a pole without an even number of longitudes or with a sign
  // that the dtype does not have; Error(unsupported) for a view, a private form, a dimension to be widened (or
  // that of longitudes) of which a rank holds several segments, two dimensions with poles, and pending values that are
  // no sums, or would get constants.
  explicit HaloPlan(const Layout& in, const Halo& halo, HaloScheme scheme = HaloScheme::direct);
  // Of boxes that lie anyhow, one to a rank, stored row-major; widened ones too.
  explicit HaloPlan(const BoxList& in, const Halo& halo);

  const Halo& halo() const;  // with dimensions counted from 0
  HaloScheme scheme() const;
  // Rounds of an exchange. A reduce always takes one: added up on their way, values would be rounded on their way.
  Index rounds() const;
  // Of what is widened, and of the widened pieces. Throw Error(unsupported) for boxes.
  const Layout& in() const;
  const Layout& out() const;
  HaloShard shard(RankId rank) const;

  // What ranks do, or one of them, with the protocol of redistribute_program (program.h): what is stored as `in` is
  // window 0, the widened shards are window 1; in place, the widened shards are window 0. The next window, where there
  // is one, is scratch of each rank alone. Round j of n uses the value j of ready and done, with per_run n.
  Program exchange_program(Index ranks, std::optional<RankId> only = {}, const RankHosts& hosts = {},
                           HaloForm form = HaloForm::apart) const;
  // The other way: window 0 are the widened shards, window 1 what is stored as `in`; in place, own cells get the sums
  // and ghosts keep what they hold.
  Program reduce_program(Index ranks, std::optional<RankId> only = {}, const RankHosts& hosts = {},
                         HaloForm form = HaloForm::apart) const;
  std::string text() const;

 private:
  friend class HaloExchange;
  struct State;
  std::shared_ptr<const State> state_;
};

// Exchanges the same halo again and again, and computes meanwhile:
//
//   HaloExchange halo(world, plan, x, wide);
//   for (;;) {
//     step(x);
//     halo.begin();
//     stencil(wide, halo.interior());  // own cells are in `wide` already
//     halo.end();
//     stencil(wide, the rest);
//   }
//
// Construction is collective and compares plan and tensors; the two signals it creates stay until the world ends. The
// tensors must stay where they are. begin(), end() and run() are made by all ranks in the same order and compare
// nothing. From the first on, nothing is allocated. After an error the world cannot go on.
class HaloExchange {
 public:
  HaloExchange(World& world, const HaloPlan& plan, const Tensor& x, Tensor& wide);
  // In place: `wide` is laid out as plan.out() and has its own cells already.
  HaloExchange(World& world, const HaloPlan& plan, Tensor& wide);
  HaloExchange(HaloExchange&&) noexcept;
  ~HaloExchange();

  // Tells the neighbours that the own cells may be read, and copies them to the widened tensor. Does not wait for ranks
  // of the same host; to those of others it sends what they need, once they have begun too, and does not wait until it
  // is there. Until end() the source must not be changed, and of the target only own cells may be read.
  void begin();
  const LocalBox& interior() const;
  // When it returns the ghosts are there, and the source may be changed.
  Traffic end();
  // Both.
  Traffic run();

 private:
  struct State;
  HaloExchange(World& world, const HaloPlan& plan, const Tensor* x, Tensor& wide);
  void check(bool begun, const char* what) const;
  std::unique_ptr<State> state_;
};

namespace op {

// x -> its widened shards; the adjoint is reduce.
LinearOp widen(const Layout& in, const Halo& halo, HaloScheme scheme = HaloScheme::direct);

// By the names of torch-harmonics (primitives.h): `radius` cells at either side of the dimension that the polar, or the
// azimuth, axis of a grid cuts. An axis that the mesh does not have cuts nothing: the operator is the identity, without
// ghosts; an axis of one rank is widened as any other. Throw Error(invalid_argument) for a grid that is not
// initialised, a tensor on another mesh, and an axis that does not cut `dim`; and as HaloPlan does.
LinearOp polar_halo_exchange(const Grid& grid, const Layout& in, Index radius, int dim = -2,
                             const HaloEdge& edge = HaloEdge::zero());
LinearOp azimuth_halo_exchange(const Grid& grid, const Layout& in, Index radius, int dim = -1,
                               const HaloEdge& edge = HaloEdge::periodic());
// Their adjoints, from what is laid out as a widened `out`.
LinearOp polar_halo_reduce(const Grid& grid, const Layout& out, Index radius, int dim = -2,
                           const HaloEdge& edge = HaloEdge::zero());
LinearOp azimuth_halo_reduce(const Grid& grid, const Layout& out, Index radius, int dim = -1,
                             const HaloEdge& edge = HaloEdge::periodic());

}  // namespace op

// Collective. widen() of x.layout(), forward.
Tensor halo_exchange(World& world, const Tensor& x, const Halo& halo, HaloScheme scheme = HaloScheme::direct);
// Collective. The adjoint: from a tensor laid out as a widened `target` to one laid out as `target`, both of them
// gradients.
Tensor halo_reduce(World& world, const Tensor& wide, const Layout& target, const Halo& halo);

struct HaloRadiusOptions {
  // The greatest radius allowed; none: any, since ghosts may come from several shards away.
  std::optional<Index> most = {};
  // Refuse a radius beyond the smallest shard of the input, as exchanges between next neighbours must.
  bool next_neighbours_only = false;
};

// How many rows of the input around its own a rank needs at most, to compute its own rows of the output from all rows
// within `cutoff` (in units of the colatitudes, which ascend). Rows are dealt out by `in_splits` and `out_splits`, rank
// by rank. The same on every rank, without communication. Throws Error(invalid_argument) that names rank, radius and
// the way out for a radius beyond what is allowed; and where splits do not add up, or colatitudes do not ascend.
Index halo_radius(std::span<const double> colatitudes_in, std::span<const double> colatitudes_out, double cutoff,
                  std::span<const Index> in_splits, std::span<const Index> out_splits,
                  const HaloRadiusOptions& options = {});

}  // namespace reshard
