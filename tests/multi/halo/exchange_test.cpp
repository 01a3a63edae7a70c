// Named halos on every fabric: values that are given in full, then everything against the oracle.
#include <gtest/gtest.h>

#include <ostream>

#include "every_fabric.h"
#include "multi/halo/expect_halo.h"

namespace reshard::multi {
namespace {

Halo along(int dim, Index lo, Index hi, HaloEdge edge) { return {{{dim, lo, hi, edge}}}; }

// Rows 0, 1, .. of a column, the widened shards and the adjoint of ones, as they are printed.
struct Golden {
  const char* name;
  const char* layout;
  Halo halo;
  std::vector<std::vector<Index>> wide;
  std::vector<std::vector<Index>> of_ones;  // may be empty
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.layout << ", " << golden.halo.text(); }

const char* kRows433 = "i64[10] on (x=3) {0: x:sizes[4,3,3]}";

const Golden goldens[] = {
    {"zero_1",
     kRows433,
     along(0, 1, 1, HaloEdge::zero()),
     {{0, 0, 1, 2, 3, 4}, {3, 4, 5, 6, 7}, {6, 7, 8, 9, 0}},
     {{1, 1, 1, 2}, {2, 1, 2}, {2, 1, 1}}},
    {"periodic_1",
     kRows433,
     along(0, 1, 1, HaloEdge::periodic()),
     {{9, 0, 1, 2, 3, 4}, {3, 4, 5, 6, 7}, {6, 7, 8, 9, 0}},
     {{2, 1, 1, 2}, {2, 1, 2}, {2, 1, 2}}},
    {"zero_4_over_two_shards",
     kRows433,
     along(0, 4, 4, HaloEdge::zero()),
     {{0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, {3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0}},
     {}},
    {"one_rank_periodic_2",
     "i64[3] on (x=1) {0: x}",
     along(0, 2, 2, HaloEdge::periodic()),
     {{1, 2, 0, 1, 2, 0, 1}},
     {}},
    {"two_ranks_periodic",
     "i64[5] on (x=2) {0: x}",
     along(0, 1, 1, HaloEdge::periodic()),
     {{4, 0, 1, 2, 3}, {2, 3, 4, 0}},
     {}},
    {"lo_is_not_hi",
     kRows433,
     along(0, 2, 1, HaloEdge::zero()),
     {{0, 0, 0, 1, 2, 3, 4}, {2, 3, 4, 5, 6, 7}, {5, 6, 7, 8, 9, 0}},
     {{1, 1, 2, 2}, {2, 2, 2}, {2, 1, 1}}},
    {"none_has_no_ghosts_at_the_ends",
     kRows433,
     along(0, 2, 1, HaloEdge::none()),
     {{0, 1, 2, 3, 4}, {2, 3, 4, 5, 6, 7}, {5, 6, 7, 8, 9}},
     {{1, 1, 2, 2}, {2, 2, 2}, {2, 1, 1}}},
    {"clamp",
     "i64[4] on (x=2) {0: x}",
     along(0, 2, 3, HaloEdge::clamp()),
     {{0, 0, 0, 1, 2, 3, 3}, {0, 1, 2, 3, 3, 3, 3}},
     {{4, 2}, {2, 6}}},
    {"mirror",
     "i64[4] on (x=2) {0: x}",
     along(0, 2, 3, HaloEdge::mirror()),
     {{2, 1, 0, 1, 2, 3, 2}, {0, 1, 2, 3, 2, 1, 0}},
     {{3, 4}, {5, 2}}},
    {"constant",
     "i64[4] on (x=2) {0: x}",
     along(0, 1, 2, HaloEdge::constant(-7)),
     {{-7, 0, 1, 2, 3}, {1, 2, 3, -7, -7}},
     {{1, 2}, {2, 2}}},
};

class GoldenHalo : public testing::TestWithParam<std::tuple<const Fabric*, Golden>> {};

void expect_list(World& world, const Tensor& tensor, const std::vector<Index>& expected, const char* what) {
  const auto bytes = tensor.bytes();
  const auto* at = reinterpret_cast<const std::int64_t*>(bytes.data());
  if (static_cast<Index>(bytes.size()) / 8 == std::ssize(expected) && std::equal(expected.begin(), expected.end(), at))
    return;
  std::string seen;
  for (std::size_t k = 0; k < bytes.size() / 8; ++k) seen += std::to_string(at[k]) + " ";
  report(world.endpoint(), std::string(what) + " is " + seen);
}

TEST_P(GoldenHalo, Values) {
  const auto& [fabric, golden] = GetParam();
  run_worlds(*fabric, std::ssize(golden.wide), [&](World& world) {
    const Layout in = layout(golden.layout);
    const auto self = static_cast<std::size_t>(world.rank().value());
    Tensor x = world.allocate(in);
    const Region region = x.region();
    for (const Segment& segment : region.dims[0])
      for (Index k = 0; k < segment.length; ++k) x.at<Index>({segment.local.value() + k}) = segment.global.value() + k;
    for (const HaloScheme scheme : {HaloScheme::direct, HaloScheme::two_phase}) {
      Tensor wide = halo_exchange(world, x, golden.halo, scheme);
      expect_list(world, wide, golden.wide[self], "the widened shard");
      if (golden.of_ones.empty()) continue;
      for (Index k = 0; k < wide.storage().extents[0]; ++k) wide.at<Index>({k}) = 1;
      const Tensor sums = halo_reduce(world, wide, in, golden.halo);
      expect_list(world, sums, golden.of_ones[self], "the adjoint of ones");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, GoldenHalo,
                         testing::Combine(testing::ValuesIn(fabrics()),
                                          testing::ValuesIn(std::begin(goldens), std::end(goldens))),
                         [](const auto& test) {
                           return std::get<0>(test.param)->name() + "_" + std::get<1>(test.param).name;
                         });

struct Case {
  const char* name;
  const char* layout;
  Halo halo;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.layout << ", " << c.halo.text(); }

const HaloDim kLatZero{0, 1, 1, HaloEdge::zero()}, kLonPeriodic{1, 1, 1, HaloEdge::periodic()};

const Case cases[] = {
    {"stencil_5B", "f64[5,7] on (y=2, x=3) {0: y, 1: x}", {{kLatZero, kLonPeriodic}}},
    {"corners_of_two_constants",
     "i32[5,4] on (y=2, x=2) {0: y, 1: x}",
     {{{0, 1, 2, HaloEdge::constant(3)}, {1, 2, 1, HaloEdge::constant(5)}}}},
    {"corners_of_two_constants_the_other_way",
     "i32[5,4] on (y=2, x=2) {0: y, 1: x}",
     {{{1, 2, 1, HaloEdge::constant(5)}, {0, 1, 2, HaloEdge::constant(3)}}}},
    {"constant_and_periodic",
     "i32[5,4] on (y=2, x=2) {0: y, 1: x}",
     {{kLonPeriodic, {0, 2, 2, HaloEdge::constant(9)}}}},
    {"three_dimensions",
     "i64[4,3,5] on (a=2, b=1, c=2) {0: a, 1: b, 2: c}",
     {{{2, 2, 1, HaloEdge::clamp()}, {0, 1, 3, HaloEdge::mirror()}, {1, 1, 1, HaloEdge::periodic()}}}},
    {"three_edges_with_none",
     "i64[4,3,5] on (a=2, b=3) {0: a, 2: b}",
     {{{0, 1, 2, HaloEdge::none()}, {2, 3, 1, HaloEdge::none()}, {1, 1, 1, HaloEdge::zero()}}}},
    {"pole", "f32[5,8] on (y=2, x=3) {0: y, 1: x}", {{{0, 2, 2, HaloEdge::pole(1)}, kLonPeriodic}}},
    {"pole_listed_last", "f32[5,8] on (y=2, x=3) {0: y, 1: x}", {{kLonPeriodic, {0, 2, 2, HaloEdge::pole(1)}}}},
    {"pole_of_vectors", "f32[5,8] on (y=2, x=4) {0: y, 1: x}", {{{0, 2, 1, HaloEdge::pole(1, true)}, kLonPeriodic}}},
    {"pole_longitude_first",
     "i64[8,5] on (y=2, x=3) {0: x, 1: y}",
     {{{1, 2, 1, HaloEdge::pole(0, true)}, {0, 2, 1, HaloEdge::periodic()}}}},
    {"pole_without_longitude_halo", "i32[4,6,2] on (y=2, x=2) {0: y, 1: x}", {{{0, 1, 1, HaloEdge::pole(1, true)}}}},
    {"pole_whole_longitudes", "f64[6,6] on (y=3) {0: y}", {{{0, 1, 2, HaloEdge::pole(1, true)}}}},
    {"both_poles_and_round_again", "i32[3,4] on (y=2, x=2) {0: y, 1: x}", {{{0, 8, 7, HaloEdge::pole(1, true)}}}},
    {"pole_of_complex",
     "complex64[4,6] on (y=2, x=3) {0: y, 1: x}",
     {{{0, 1, 1, HaloEdge::pole(1, true)}, kLonPeriodic}}},
    {"pole_of_complex128", "complex128[4,6] on (y=2) {0: y}", {{{0, 2, 1, HaloEdge::pole(1, true)}}}},
    {"pole_and_constant",
     "f64[4,6,3] on (y=2, z=2) {0: y, 2: z}",
     {{{2, 1, 1, HaloEdge::constant(0.5)}, {0, 1, 1, HaloEdge::pole(1, true)}}}},
    {"half_precision", "f16[9,6] on (y=3) {0: y}", {{{0, 2, 2, HaloEdge::clamp()}, {1, 1, 1, HaloEdge::periodic()}}}},
    {"bf16_constant_and_pole",
     "bf16[6,4,5] on (y=3) {0: y}",
     {{{0, 1, 2, HaloEdge::pole(1, true)}, {2, 1, 1, HaloEdge::constant(-1.5)}}}},
    {"bytes", "u8[7,3] on (x=4) {0: x}", {{{0, 1, 1, HaloEdge::clamp()}, {1, 1, 0, HaloEdge::constant(200)}}}},
    {"complex_constant", "complex128[5,3] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::constant(2.5)}}}},
    {"complex64_constant", "complex64[5,3] on (x=2) {0: x} order(1,0)", {{{0, 1, 1, HaloEdge::constant(2.5)}}}},
    {"shuffled_ranks", "i64[9,4] on (x=4)@[3,0,2,1] {0: x}", {{{0, 3, 2, HaloEdge::periodic()}}}},
    {"sparse_ranks", "i64[9,4] on (x=3)@[6,1,4] {0: x}", {{{0, 1, 2, HaloEdge::mirror()}}}},
    {"order_of_cuts", "i64[10] on (a=2, b=2) {0: b a}", {{{0, 2, 1, HaloEdge::periodic()}}}},
    {"pieces_out_of_order", "i64[8] on (a=2, b=2) {0: a:strided(2) b}", {{{0, 1, 1, HaloEdge::zero()}}}},
    {"replicas", "i64[7,3] on (r=2, x=3) {0: x}", {{{0, 1, 2, HaloEdge::periodic()}}}},
    {"varying", "i64[7,3] on (x=3, r=2) {0: x, r: varying}", {{{0, 2, 1, HaloEdge::clamp()}}}},
    {"pending", "i64[7,3] on (x=3, r=2) {0: x, r: partial(sum)}", {{{0, 2, 1, HaloEdge::zero()}}}},
    {"one_stage", "i64[7,3] on (p=2, x=3) {0: x, p: at(1)}", {{{0, 2, 1, HaloEdge::periodic()}}}},
    {"not_cut_at_all", "i64[4,3] on (r=2) {}", {{{0, 2, 1, HaloEdge::periodic()}, {1, 1, 1, HaloEdge::mirror()}}}},
    {"other_dimension_cyclic", "i32[6,9] on (y=2, x=2) {0: y, 1: x:cyclic(2)}", {{{0, 1, 1, HaloEdge::periodic()}}}},
    {"other_dimension_in_windows", "i32[6,9] on (y=2, x=2) {0: y, 1: x:window(3)}", {{{0, 1, 2, HaloEdge::clamp()}}}},
    {"widened_dimension_in_windows", "i32[9,2] on (x=3) {0: x:window(3)}", {{{0, 1, 2, HaloEdge::periodic()}}}},
    {"column_major", "i32[6,5] on (y=2, x=2) {0: y, 1: x} order(1,0)", {{kLatZero, kLonPeriodic}}},
    {"strides", "i32[6,5] on (y=2) {0: y} strides(8,1)", {{{0, 1, 2, HaloEdge::periodic()}}}},
    {"negative_dimension", "i32[3,8] on (x=4) {1: x}", {{{-1, 1, 1, HaloEdge::periodic()}}}},
    {"pole_negative_dimensions", "i32[3,4,8] on (x=2) {1: x}", {{{-2, 1, 1, HaloEdge::pole(-1, true)}}}},
    {"more_ranks_than_rows", "i64[3,2] on (x=7) {0: x}", {{{0, 2, 2, HaloEdge::periodic()}}}},
    {"empty_in_the_middle", "i64[6] on (x=5) {0: x:sizes[2,0,1,0,3]}", {{{0, 2, 3, HaloEdge::mirror()}}}},
    {"no_cells", "i64[0,4] on (x=3) {0: x}", {{{0, 1, 1, HaloEdge::periodic()}, {1, 1, 1, HaloEdge::zero()}}}},
    {"no_cells_beside", "i64[4,0] on (x=3) {0: x}", {{{0, 1, 1, HaloEdge::clamp()}}}},
    {"one_cell", "i64[1] on (x=2) {0: x}", {{{0, 3, 2, HaloEdge::mirror()}}}},
    {"no_width", "i64[5,2] on (x=3) {0: x}", {{{0, 0, 0, HaloEdge::periodic()}}}},
    {"no_dimension", "i64[5,2] on (x=3) {0: x}", {}},
    {"scalar", "i64[] on (x=2) {}", {}},
    {"round_and_round", "i64[5,2] on (x=3) {0: x}", {{{0, 13, 11, HaloEdge::periodic()}}}},
    {"eight_ranks",
     "i32[9,9] on (y=4, x=2) {0: y:balanced, 1: x:balanced-last}",
     {{{0, 3, 1, HaloEdge::clamp()}, {1, 1, 2, HaloEdge::clamp()}}}},
};

class NamedHalo : public testing::TestWithParam<std::tuple<const Fabric*, Case>> {};

TEST_P(NamedHalo, EveryCell) {
  const auto& [fabric, c] = GetParam();
  const Layout in = layout(c.layout);
  run_worlds(*fabric, in.mesh().end_rank().value(), [&](World& world) { expect_halo(world, in, c.halo); });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, NamedHalo,
                         testing::Combine(testing::ValuesIn(fabrics()),
                                          testing::ValuesIn(std::begin(cases), std::end(cases))),
                         [](const auto& test) {
                           return std::get<0>(test.param)->name() + "_" + std::get<1>(test.param).name;
                         });

// Across hosts ghosts are put by their owners: as many bytes as there are ghosts of others.
class HaloAcrossHosts : public EveryFabric {};
RESHARD_ON_EVERY_FABRIC(HaloAcrossHosts, {2, 3, 4, 6});

TEST_P(HaloAcrossHosts, EveryCell) {
  for (const Index per_host : {1, 2}) {
    run([&](Endpoint& inner) {
      const std::unique_ptr<Endpoint> e = on_hosts(inner, per_host);
      World world(*e, {.timeout = 120s});
      const std::string n = std::to_string(world.ranks());
      expect_halo(world, layout("i64[11,4] on (x=" + n + ") {0: x}"), {{{0, 2, 3, HaloEdge::periodic()}}});
      expect_halo(world, layout("f32[6,8] on (x=" + n + ") {1: x}"),
                  {{{0, 2, 1, HaloEdge::pole(1, true)}, {1, 1, 1, HaloEdge::periodic()}}});
      if (world.ranks() % 2 == 0)
        expect_halo(world, layout("i32[5,9] on (y=2, x=" + std::to_string(world.ranks() / 2) + ") {0: y, 1: x}"),
                    {{{0, 1, 2, HaloEdge::constant(4)}, {1, 2, 1, HaloEdge::periodic()}}});
    });
  }
}

TEST_P(HaloAcrossHosts, WhatCrossesIsPutAndTheRestFetched) {
  run([&](Endpoint& inner) {
    const std::unique_ptr<Endpoint> e = on_hosts(inner, 1);
    World world(*e, {.timeout = 120s});
    const std::string n = std::to_string(world.ranks());
    const HaloPlan plan(layout("i64[24] on (x=" + n + ") {0: x}"), {{{0, 1, 1, HaloEdge::periodic()}}});
    const Tensor x = world.allocate(plan.in());
    Tensor wide = world.allocate(plan.out());
    const Traffic traffic = HaloExchange(world, plan, x, wide).run();
    expect_equal(*e, "bytes put", traffic.bytes_put, 16);
    expect_equal(*e, "bytes got", traffic.bytes_got, 0);
  });
}

}  // namespace
}  // namespace reshard::multi
