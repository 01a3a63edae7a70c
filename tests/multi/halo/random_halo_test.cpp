// Halos of any kind around layouts of any kind, from a seed, against the oracle.
#include <gtest/gtest.h>

#include "every_fabric.h"
#include "multi/halo/expect_halo.h"
#include "property/random.h"

namespace reshard::multi {
namespace {

// A mesh of `ranks` of one to three axes, in any order.
Mesh random_mesh(Random& random, Index ranks) {
  std::vector<Axis> axes;
  Index rest = ranks;
  for (const char* name : {"a", "b"}) {
    std::vector<Index> divisors;
    for (Index d = 1; d <= rest; ++d)
      if (rest % d == 0) divisors.push_back(d);
    axes.push_back({name, random.among(divisors)});
    rest /= axes.back().size;
  }
  axes.push_back({"c", rest});
  std::vector<RankId> order;
  for (Index r = 0; r < ranks; ++r) order.emplace_back(r);
  if (random.one_in(2)) random.shuffle(order);
  return Mesh::listed("", axes, order);
}

Cut random_cut(Random& random, const Mesh& mesh, int axis, Index n) {
  Cut cut;
  cut.axes = {axis};
  const Index p = mesh.axes()[static_cast<std::size_t>(axis)].size;
  switch (random.below(4)) {
    case 0: cut.rule = Rule::balanced; break;
    case 1: cut.rule = Rule::floor; break;
    case 2: {
      cut.rule = Rule::sizes;
      Index rest = n;
      for (Index k = 0; k + 1 < p; ++k) rest -= cut.sizes.emplace_back(random.between(0, rest));
      cut.sizes.push_back(rest);
      break;
    }
    default: break;
  }
  return cut;
}

Layout random_field(Random& random, Index ranks) {
  LayoutSpec spec;
  spec.mesh = random_mesh(random, ranks);
  spec.dtype = random.among(std::vector{Dtype::i64, Dtype::i32, Dtype::f32, Dtype::bf16, Dtype::complex64});
  const Index dims = random.between(1, 3);
  for (Index d = 0; d < dims; ++d) spec.shape.push_back(random.between(random.one_in(20) ? 0 : 1, dims == 3 ? 6 : 12));
  spec.cuts.resize(spec.shape.size());
  spec.kinds.resize(3);
  for (int axis = 0; axis < 3; ++axis) {
    const auto dim = static_cast<std::size_t>(random.below(dims + 1));
    if (dim < spec.shape.size() && spec.cuts[dim].empty()) {
      spec.cuts[dim].push_back(random_cut(random, spec.mesh, axis, spec.shape[dim]));
    } else if (random.one_in(3)) {
      spec.kinds[static_cast<std::size_t>(axis)].kind = AxisKind::Kind::partial;
    } else {
      spec.kinds[static_cast<std::size_t>(axis)].varying = random.one_in(2);
    }
  }
  if (dims == 2 && random.one_in(3)) spec.storage.order = {1, 0};
  return Layout(std::move(spec));
}

Halo random_halo(Random& random, const Layout& in) {
  Halo halo;
  std::vector<int> dims;
  for (int d = 0; d < in.dims(); ++d) dims.push_back(d);
  random.shuffle(dims);
  const HaloEdge edges[] = {HaloEdge::none(),  HaloEdge::zero(),   HaloEdge::constant(in.has_partial() ? 0 : 7),
                            HaloEdge::clamp(), HaloEdge::mirror(), HaloEdge::periodic()};
  for (const int dim : dims) {
    if (random.one_in(4)) continue;
    const Index most = random.one_in(4) ? 9 : 3;
    halo.dims.push_back({dim, random.between(0, most), random.between(0, most), edges[random.below(6)]});
  }
  if (halo.dims.empty() || in.dims() < 2 || random.one_in(2)) return halo;
  // A pole, where there is an even number of longitudes.
  HaloDim& pole = halo.dims[static_cast<std::size_t>(random.below(std::ssize(halo.dims)))];
  const int longitude = (pole.dim + 1) % in.dims();
  if (in.shape()[static_cast<std::size_t>(longitude)] % 2 != 0) return halo;
  for (HaloDim& d : halo.dims)
    if (d.dim == longitude) d.edge = HaloEdge::periodic();
  pole.edge = HaloEdge::pole(longitude, random.one_in(2));
  return halo;
}

class RandomHalo : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(RandomHalo, {1, 2, 3, 4, 6, 7, 8});

TEST_P(RandomHalo, EveryCell) {
  const unsigned seed = seed_from_environment();
  for (Index k = 0; k < 30; ++k) {
    Random random(seed + static_cast<unsigned>(1000 * ranks() + k));
    const Layout in = random_field(random, ranks());
    const Halo halo = random_halo(random, in);
    const Index per_host = random.one_in(3) ? 1 : 64;
    SCOPED_TRACE(in.text() + ", " + halo.text() + ", " + std::to_string(k));
    ASSERT_NO_THROW(run([&](Endpoint& inner) {
      const std::unique_ptr<Endpoint> e = on_hosts(inner, per_host);
      World world(*e, {.timeout = 120s});
      expect_halo(world, in, halo, 1);
    }));
  }
}

}  // namespace
}  // namespace reshard::multi
