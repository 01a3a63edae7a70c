// A 3 x 3 stencil with corners on a 2 x 3 grid of ranks: latitudes end, longitudes go round. And the products
// <A x, y> and <x, A* y> of halos of many kinds.
#include <numeric>

#include "every_fabric.h"
#include "multi/halo/expect_halo.h"
#include "reshard/check_adjoint.h"

namespace reshard::multi {
namespace {

constexpr Index kLat = 5, kLon = 7;
constexpr Index kWeights[3][3] = {{1, -2, 3}, {-4, 5, -6}, {7, -8, 9}};

Index field(Index lat, Index lon) { return 100 * lat + 7 * lon * lon + 3; }
Index gradient(Index lat, Index lon) { return 13 * lat - 5 * lon + lat * lon; }

// One process, all cells.
Index serial(Index lat, Index lon) {
  Index sum = 0;
  for (Index i = -1; i <= 1; ++i)
    for (Index j = -1; j <= 1; ++j)
      if (lat + i >= 0 && lat + i < kLat) sum += kWeights[i + 1][j + 1] * field(lat + i, (lon + j + kLon) % kLon);
  return sum;
}

class Stencil : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(Stencil, {6});

TEST_P(Stencil, ForwardIsTheSerialOneAndTheDotTestIsExact) {
  run([](Endpoint& e) {
    World world(e, {.timeout = 120s});
    const Layout in = layout("i64[5,7] on (y=2, x=3) {0: y:balanced, 1: x:balanced}");
    const Halo halo{{{0, 1, 1, HaloEdge::zero()}, {1, 1, 1, HaloEdge::periodic()}}};
    Tensor x = world.allocate(in);
    const Index lat0 = x.region().dims[0].front().global.value(), lats = x.region().dims[0].front().length;
    const Index lon0 = x.region().dims[1].front().global.value(), lons = x.region().dims[1].front().length;
    for (Index i = 0; i < lats; ++i)
      for (Index j = 0; j < lons; ++j) x.at<Index>({i, j}) = field(lat0 + i, lon0 + j);
    const Tensor wide = halo_exchange(world, x, halo, HaloScheme::two_phase);
    Tensor gwide = world.allocate(wide.layout());
    Index forward = 0;
    for (Index i = 0; i < lats; ++i)
      for (Index j = 0; j < lons; ++j) {
        Index sum = 0;
        for (Index a = 0; a < 3; ++a)
          for (Index b = 0; b < 3; ++b) sum += kWeights[a][b] * wide.at<Index>({i + a, j + b});
        expect_equal(e, "the stencil", sum, serial(lat0 + i, lon0 + j));
        const Index g = gradient(lat0 + i, lon0 + j);
        forward += sum * g;
        for (Index a = 0; a < 3; ++a)
          for (Index b = 0; b < 3; ++b) gwide.at<Index>({i + a, j + b}) += kWeights[a][b] * g;
      }
    const Tensor gx = halo_reduce(world, gwide, in, halo);
    Index back = 0;
    for (Index i = 0; i < lats; ++i)
      for (Index j = 0; j < lons; ++j) back += x.at<Index>({i, j}) * gx.at<Index>({i, j});
    Tensor both = world.allocate(layout("i64[2] on (r=6) {r: partial(sum)}"));
    both.at<Index>({0}) = forward;
    both.at<Index>({1}) = back;
    const Tensor sums = redistribute(world, both, layout("i64[2] on (r=6) {}"));
    expect_equal(e, "<x, A* y>", sums.at<Index>({1}), sums.at<Index>({0}));
    if (sums.at<Index>({0}) == 0) report(e, "the products are 0");
  });
}

class HaloAdjoint : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(HaloAdjoint, {1, 2, 3, 4, 6, 7, 8});

TEST_P(HaloAdjoint, IsExactOnIntegersAndCloseOnFloats) {
  run([](Endpoint& e) {
    World world(e, {.timeout = 120s});
    const std::string n = std::to_string(world.ranks());
    for (const char* dtype : {"i64", "f64", "complex128"})
      for (const char* rest : {"[12,5] on (x=", "[5,2] on (x="})
        for (const HaloEdge& edge :
             {HaloEdge::none(), HaloEdge::zero(), HaloEdge::clamp(), HaloEdge::mirror(), HaloEdge::periodic()})
          for (const HaloScheme scheme : {HaloScheme::direct, HaloScheme::two_phase})
            check_adjoint(world, op::widen(layout(std::string(dtype) + rest + n + ") {0: x}"),
                                           {{{0, 2, 3, edge}, {1, 1, 0, HaloEdge::periodic()}}}, scheme));
    check_adjoint(world, op::widen(layout("i64[5,8] on (x=" + n + ") {1: x}"), {{{0, 2, 1, HaloEdge::pole(1, true)}}}));
    check_adjoint(world, op::widen(layout("i64[6,3] on (x=" + n + ") {x: varying}"), {{{0, 1, 1, HaloEdge::zero()}}}));
    check_adjoint(world,
                  op::widen(layout("i64[6,3] on (x=" + n + ") {x: partial(sum)}"), {{{0, 1, 1, HaloEdge::zero()}}}));
  });
}

// What is reduced is laid out as the widened target, whatever its kinds: here terms of a pending sum, each by itself.
TEST_P(HaloAdjoint, PendingGradientsStayPending) {
  run([](Endpoint& e) {
    World world(e, {.timeout = 120s});
    const Layout in = layout("i64[3] on (x=" + std::to_string(world.ranks()) + ") {x: partial(sum)}");
    const Halo halo{{{0, 1, 1, HaloEdge::periodic()}}};
    Tensor wide = world.allocate(HaloPlan(in, halo).out());
    for (Index k = 0; k < 5; ++k) wide.at<Index>({k}) = 10 * k + 1000 * e.rank().value();
    const Tensor sums = halo_reduce(world, wide, in, halo);
    const Index base = 1000 * e.rank().value();
    expect_equal(e, "cell 0", sums.at<Index>({0}), 10 + 40 + 2 * base);
    expect_equal(e, "cell 1", sums.at<Index>({1}), 20 + base);
    expect_equal(e, "cell 2", sums.at<Index>({2}), 30 + 0 + 2 * base);
  });
}

}  // namespace
}  // namespace reshard::multi
