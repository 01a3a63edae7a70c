// The names of the primitives: golden values, splits, groups, what is refused, and dtypes that others damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>

#include "elements.h"
#include "refusal.h"
#include "reshard/check_adjoint.h"
#include "reshard/primitives.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// X[r,c] = 10 r + c of 3 rows and 5 columns on 2 ranks.
TEST(Transpose, GoldenOfThreeByFive) {
  thread_ranks(2, [](World& world) {
    const bool first = world.rank() == RankId(0);
    const op::Grid grid(mesh("(polar=2)"));
    const LinearOp op =
        op::distributed_transpose_polar(grid, layout("i64[3,5] on (polar=2) {1: polar:balanced}"), {0, 1});
    Tensor x = world.allocate(op.in());
    set<Index>(x,
               first ? std::vector<Index>{0, 1, 2, 10, 11, 12, 20, 21, 22} : std::vector<Index>{3, 4, 13, 14, 23, 24});
    const Tensor y = op.forward(world, x);
    EXPECT_EQ(elements<Index>(y), first ? (std::vector<Index>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14})
                                        : (std::vector<Index>{20, 21, 22, 23, 24}));
    EXPECT_EQ(elements<Index>(op.adjoint(world, y)), elements<Index>(x));
    EXPECT_EQ(op.out().text(), "i64[3,5] on (polar=2) {0: polar:balanced}");
  });
}

// shapes_ of the caller, which upstream's backward forgets.
TEST(Transpose, GivenSizesHoldInBothDirections) {
  thread_ranks(2, [](World& world) {
    const LinearOp op = op::transpose(layout("i64[3,5] on (x=2) {1: x:sizes[1,4]}"), "x", 0, 1, op::sizes({0, 3}));
    Tensor x = world.allocate(op.in());
    const bool first = world.rank() == RankId(0);
    set<Index>(x,
               first ? std::vector<Index>{0, 10, 20} : std::vector<Index>{1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24});
    const Tensor y = op.forward(world, x);
    EXPECT_EQ(elements<Index>(y).size(), first ? 0u : 15u);
    const Tensor back = op.adjoint(world, y);
    EXPECT_EQ(back.layout().text(), "i64[3,5] on (x=2) {1: x:sizes[1,4]}");
    EXPECT_EQ(elements<Index>(back), elements<Index>(x));
  });
}

TEST(Transpose, TakesItsDimensionsByName) {
  const Layout in = layout("i64[3,5] on (x=2) {1: x:balanced}");
  EXPECT_EQ(op::transpose(in, {.gather = 1, .split = 0, .axis = "x"}), op::transpose(in, "x", 0, 1));
  EXPECT_EQ(op::transpose(in, {.gather = 1, .split = -2, .axis = "x", .parts = op::sizes({0, 3})}).out(),
            layout("i64[3,5] on (x=2) {0: x:sizes[0,3]}"));
}

// (r + 1) * (1, 10) on rank r of 3.
TEST(CopyReduce, GoldenSums) {
  thread_ranks(3, [](World& world) {
    const Layout whole = layout("f64[2] on (x=3)");
    const double r = static_cast<double>(world.rank().value() + 1);
    const LinearOp copy = op::copy_to(whole, "x"), reduce = op::reduce_from(dual(copy.out()), "x");
    Tensor terms = world.allocate(reduce.in());
    set<double>(terms, {r, 10 * r});
    EXPECT_THAT(elements<double>(reduce.forward(world, terms)), ElementsAre(6, 60));
    EXPECT_THAT(elements<double>(copy.adjoint(world, terms)), ElementsAre(6, 60));
    Tensor value = world.allocate(whole);
    set<double>(value, {1, 2});
    EXPECT_THAT(elements<double>(copy.forward(world, value)), ElementsAre(1, 2));
    EXPECT_THAT(elements<double>(reduce.adjoint(world, value)), ElementsAre(1, 2));
    const LinearOp all = op::all_reduce(reduce.in(), "x");
    EXPECT_THAT(elements<double>(all.forward(world, terms)), ElementsAre(6, 60));
    EXPECT_THAT(elements<double>(all.adjoint(world, terms)), ElementsAre(6, 60));
  });
}

TEST(ScatterGather, GoldenParts) {
  thread_ranks(4, [](World& world) {
    const auto r = static_cast<std::size_t>(world.rank().value());
    const std::vector<std::vector<Index>> parts{{0, 1, 2}, {3, 4, 5}, {6, 7}, {8, 9}};
    const std::vector<Index> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const LinearOp scatter = op::scatter_to(layout("i64[10] on (x=4)"), "x", -1);
    Tensor whole = world.allocate(scatter.in());
    set<Index>(whole, all);
    const Tensor part = scatter.forward(world, whole);
    EXPECT_EQ(elements<Index>(part), parts[r]);
    EXPECT_EQ(elements<Index>(scatter.adjoint(world, part)), all);
    const LinearOp gather = op::gather_from(scatter.out(), "x", 0);
    EXPECT_EQ(elements<Index>(gather.forward(world, part)), all);
    EXPECT_EQ(elements<Index>(gather.adjoint(world, whole)), parts[r]);
    const LinearOp copy = op::gather_from_copy_to(scatter.out(), "x", 0);
    EXPECT_EQ(elements<Index>(copy.forward(world, part)), all);
    Tensor terms = world.allocate(copy.out_dual());
    set<Index>(terms, all);
    std::vector<Index> summed = parts[r];
    for (Index& v : summed) v *= 4;
    EXPECT_EQ(elements<Index>(copy.adjoint(world, terms)), summed);
    const LinearOp reduce = op::reduce_from_scatter_to(copy.out_dual(), "x", 0);
    EXPECT_EQ(elements<Index>(reduce.forward(world, terms)), summed);
    EXPECT_EQ(elements<Index>(reduce.adjoint(world, part)), all);
  });
}

TEST(SplitShapes, AreThoseOfTheRules) {
  const auto split = [](Rule rule) {
    op::Split s;
    s.rule = rule;
    return s;
  };
  const auto shapes = [&](Rule rule, Index n, Index p) { return op::compute_split_shapes(n, p, split(rule)); };
  EXPECT_THAT(op::compute_split_shapes(10, 4), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(op::compute_split_shapes(128, 3), ElementsAre(43, 43, 42));
  EXPECT_THAT(op::compute_split_shapes(5, 4), ElementsAre(2, 1, 1, 1));
  EXPECT_THAT(op::compute_split_shapes(361, 4), ElementsAre(91, 90, 90, 90));
  EXPECT_THAT(op::compute_split_shapes(3, 4), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(op::compute_split_shapes(0, 2), ElementsAre(0, 0));
  const std::vector<std::pair<Index, Index>> sizes{{10, 4}, {5, 4}, {6, 4}, {17, 4}, {3, 4}};
  const std::pair<Rule, std::vector<std::vector<Index>>> rules[] = {
      {Rule::balanced, {{3, 3, 2, 2}, {2, 1, 1, 1}, {2, 2, 1, 1}, {5, 4, 4, 4}, {1, 1, 1, 0}}},
      {Rule::balanced_last, {{2, 2, 3, 3}, {1, 1, 1, 2}, {1, 1, 2, 2}, {4, 4, 4, 5}, {0, 1, 1, 1}}},
      {Rule::floor, {{2, 3, 2, 3}, {1, 1, 1, 2}, {1, 2, 1, 2}, {4, 4, 4, 5}, {0, 1, 1, 1}}},
      {Rule::chunk, {{3, 3, 3, 1}, {2, 2, 1, 0}, {2, 2, 2, 0}, {5, 5, 5, 2}, {1, 1, 1, 0}}},
  };
  for (const auto& [rule, rows] : rules)
    for (std::size_t k = 0; k < sizes.size(); ++k)
      EXPECT_EQ(shapes(rule, sizes[k].first, sizes[k].second), rows[k]) << sizes[k].first << "/" << sizes[k].second;
  EXPECT_THAT(op::compute_split_shapes(12, 4, split(Rule::even)), Each(3));
  EXPECT_THAT(refusal_of([&] { op::compute_split_shapes(10, 4, split(Rule::even)); }), HasSubstr("10"));
  EXPECT_THAT(refusal_of([] { op::compute_split_shapes(-1, 4); }), HasSubstr("extent -1"));
  EXPECT_THAT(refusal_of([] { op::compute_split_shapes(4, 0); }), HasSubstr("size 0"));
  EXPECT_THAT(op::compute_split_shapes(9, 3, op::sizes({3, 0, 6})), ElementsAre(3, 0, 6));
  EXPECT_THAT(refusal_of([] { op::compute_split_shapes(9, 3, op::sizes({3, 0, 5})); }), HasSubstr("8"));
}

TEST(Neighbors, AreCyclicAndInRanksOfTheWorld) {
  using op::get_group_neighbors;
  const Mesh grid = mesh("(polar=3, azimuth=2)");
  EXPECT_EQ(get_group_neighbors(grid, "polar", RankId(1)), (op::Neighbors{RankId(5), RankId(3)}));
  EXPECT_EQ(get_group_neighbors(grid, "polar", RankId(4)), (op::Neighbors{RankId(2), RankId(0)}));
  EXPECT_EQ(get_group_neighbors(grid, "azimuth", RankId(4)), (op::Neighbors{RankId(5), RankId(5)}));
  EXPECT_EQ(get_group_neighbors(mesh("(x=3)@[7,2,5]"), "x", RankId(2)), (op::Neighbors{RankId(7), RankId(5)}));
  EXPECT_EQ(get_group_neighbors(mesh("(x=1)@4"), "x", RankId(4)), (op::Neighbors{RankId(4), RankId(4)}));
  EXPECT_THAT(refusal_of([&] { get_group_neighbors(grid, "polar", RankId(6)); }), HasSubstr("rank 6 is not in mesh"));
  EXPECT_THAT(refusal_of([&] { get_group_neighbors(grid, "lat", RankId(0)); }), HasSubstr("has no axis \"lat\""));
  EXPECT_THAT(refusal_of([] { get_group_neighbors(mesh("(tp=4 as (kv=2, rep=2))"), "tp", RankId(0)); }),
              HasSubstr("is several axes"));
}

// Chunk held by each rank, step by step, of sizes 17, 16, 16, 16.
TEST(RingPass, ChunksGoRoundAndComeHome) {
  thread_ranks(4, [](World& world) {
    const Layout home = layout("i64[65] on (x=4) {0: x:balanced}");
    Layout held = home;
    Tensor chunk = world.allocate(home);
    const Index begins[] = {0, 17, 33, 49, 65};
    const Index r = world.rank().value();
    std::vector<Index> own;
    for (Index v = begins[r]; v < begins[r + 1]; ++v) own.push_back(v);
    set(chunk, own);
    for (Index step = 1; step <= 4; ++step) {
      const LinearOp pass = op::ring_pass(held, "x");
      Tensor next = pass.forward(world, chunk);
      EXPECT_EQ(elements<Index>(pass.adjoint(world, next)), elements<Index>(chunk));
      const Index holds = (r + step) % 4;
      EXPECT_EQ(elements<Index>(next).front(), begins[holds]) << "step " << step << ", rank " << r;
      EXPECT_EQ(std::ssize(elements<Index>(next)), begins[holds + 1] - begins[holds]);
      chunk = std::move(next);
      held = pass.out();
    }
    EXPECT_EQ(held, home);
    EXPECT_EQ(elements<Index>(chunk), own);
  });
  const Layout grid = layout("i64[5,7] on (y=2, x=3) {0: y, 1: x}");
  EXPECT_EQ(op::ring_pass(grid, "x", 3).out(), grid);
  EXPECT_EQ(op::ring_pass(grid, "x", -1).out(), op::ring_pass(grid, "x", 2).out());
  EXPECT_EQ(op::ring_pass(grid, "y", 1).out().mesh(), mesh("(y=2, x=3)@[3,4,5,0,1,2]"));
  EXPECT_EQ(op::ring_pass(grid, "z").out(), grid);
  EXPECT_EQ(check_adjoint(op::ring_pass(grid, "x")).error, 0);
  EXPECT_THAT(refusal_of([] { op::ring_pass(layout("f32[4] on (x=2) {x: varying}"), "x"); }), HasSubstr("varying"));
}

// No axis, an axis of one rank, no grid: three cases, three answers.
TEST(Groups, AbsentOfOneRankAndNotInitialised) {
  const Layout plain = layout("i64[3,2] on (azimuth=2)");
  const op::Grid grid(mesh("(azimuth=2)"));
  EXPECT_FALSE(grid.has_polar());
  EXPECT_EQ(grid.polar_size(), 1);
  EXPECT_EQ(grid.polar_rank(RankId(1)), 0);
  EXPECT_EQ(grid.azimuth_size(), 2);
  EXPECT_EQ(grid.azimuth_rank(RankId(1)), 1);
  const LinearOp nobody = op::scatter_to_polar_region(grid, plain, 0);
  EXPECT_EQ(nobody.in(), nobody.out());
  EXPECT_EQ(op::reduce_from_polar_region(grid, plain).out(), plain);
  EXPECT_EQ(op::gather_from_copy_to_polar_region(grid, plain, 1).out(), plain);
  EXPECT_EQ(op::distributed_transpose_polar(grid, plain, {0, 1}).out(), plain);
  EXPECT_EQ(check_adjoint(nobody).error, 0);
  EXPECT_THAT(refusal_of([&] { op::scatter_to_polar_region(grid, plain, 2); }),
              HasSubstr("dimension 2 is out of range"));

  const Layout alone = layout("i64[3,2] on (polar=1, azimuth=2)");
  const LinearOp one = op::scatter_to_polar_region(op::Grid(alone.mesh()), alone, 0);
  EXPECT_EQ(one.out().text(), "i64[3,2] on (polar=1, azimuth=2) {0: polar:balanced}");
  EXPECT_EQ(check_adjoint(one).error, 0);
  EXPECT_THAT(refusal_of([&] { op::reduce_from_polar_region(op::Grid(alone.mesh()), alone); }),
              HasSubstr("axis \"polar\" is to be partial(sum), but it is invariant"));

  const op::Grid none;
  EXPECT_FALSE(none.is_initialized());
  EXPECT_THAT(
      refusal_of([&] { op::copy_to_polar_region(none, plain); }),
      HasSubstr("copy_to_polar_region: the grid is not initialised: make it as Grid(mesh, polar axis, azimuth axis)"));
  EXPECT_THAT(refusal_of([&] { none.polar_size(); }), HasSubstr("polar_size: the grid is not initialised"));
  EXPECT_THAT(refusal_of([&] { op::copy_to_polar_region(grid, alone); }), HasSubstr("on another mesh than the grid"));
  EXPECT_THAT(refusal_of([&] { op::Grid(alone.mesh(), "azimuth", "azimuth"); }),
              HasSubstr("both the polar and the azimuth axis"));
  EXPECT_THAT(refusal_of([&] { grid.azimuth_rank(RankId(2)); }), HasSubstr("rank 2 is not in mesh"));
}

// Every name with both axes of a grid of 3 by 2.
TEST(Grid, EveryNameExistsForBothAxes) {
  const op::Grid grid(mesh("(lat=3, lon=2)"), "lat", "lon");
  const Layout plain = layout("i64[7,5] on (lat=3, lon=2)");
  const Layout cut_lat = layout("i64[7,5] on (lat=3, lon=2) {0: lat}"),
               cut_lon = layout("i64[7,5] on (lat=3, lon=2) {1: lon}");
  const Layout pends_lat = layout("i64[7,5] on (lat=3, lon=2) {lat: partial(sum)}");
  const Layout pends_lon = layout("i64[7,5] on (lat=3, lon=2) {lon: partial(sum)}");
  const std::pair<LinearOp, const char*> operators[] = {
      {op::copy_to_polar_region(grid, plain), "{lat: varying}"},
      {op::copy_to_azimuth_region(grid, plain), "{lon: varying}"},
      {op::reduce_from_polar_region(grid, pends_lat), ""},
      {op::reduce_from_azimuth_region(grid, pends_lon), ""},
      {op::all_reduce_polar_region(grid, pends_lat), "{lat: varying}"},
      {op::all_reduce_azimuth_region(grid, pends_lon), "{lon: varying}"},
      {op::scatter_to_polar_region(grid, plain, 0), "{0: lat:balanced}"},
      {op::scatter_to_azimuth_region(grid, plain, -1), "{1: lon:balanced}"},
      {op::gather_from_polar_region(grid, cut_lat, 0), ""},
      {op::gather_from_azimuth_region(grid, cut_lon, -1), ""},
      {op::gather_from_copy_to_polar_region(grid, cut_lat, 0), "{lat: varying}"},
      {op::gather_from_copy_to_azimuth_region(grid, cut_lon, 1), "{lon: varying}"},
      {op::reduce_from_scatter_to_polar_region(grid, pends_lat, 1), "{1: lat:balanced}"},
      {op::reduce_from_scatter_to_azimuth_region(grid, pends_lon, 0), "{0: lon:balanced}"},
      {op::distributed_transpose_polar(grid, cut_lat, {1, 0}), "{1: lat:balanced}"},
      {op::distributed_transpose_azimuth(grid, cut_lon, {0, 1}), "{0: lon:balanced}"},
  };
  for (const auto& [op, body] : operators) {
    const std::string text = "i64[7,5] on (lat=3, lon=2)" + (*body ? " " + std::string(body) : "");
    EXPECT_EQ(op.out().text(), text) << op.name();
    EXPECT_EQ(check_adjoint(op).error, 0) << op.name();
    EXPECT_THAT(op.name(), testing::AnyOf(HasSubstr("polar"), HasSubstr("azimuth")));
  }
}

TEST(Names, AxesThatDoSomethingElseAreRefused) {
  const Layout cut = layout("f32[8,6] on (x=2, y=2) {0: (x y)}");
  EXPECT_THAT(refusal_of([&] { op::gather_from(cut, "x", 0); }),
              AllOf(HasSubstr("gather_from: axis \"x\" is to be what cuts dimension 0"), HasSubstr("but it is cut")));
  const Layout varying = layout("f32[8,6] on (x=2) {x: varying}");
  EXPECT_THAT(refusal_of([&] { op::copy_to(varying, "x"); }),
              HasSubstr("copy_to: axis \"x\" is to be invariant: replicated, and not varying, but it is varying"));
  EXPECT_THAT(refusal_of([&] { op::scatter_to(varying, "x", 0); }), HasSubstr("it is varying"));
  EXPECT_THAT(refusal_of([&] { op::gather_from(varying, "x", 0); }), HasSubstr("but it is varying"));
  EXPECT_THAT(refusal_of([&] { op::reduce_from(varying, "x"); }),
              HasSubstr("is to be partial(sum), but it is varying"));
  EXPECT_THAT(refusal_of([&] { op::transpose(layout("f32[8,6] on (x=2) {0: x}"), "x", 0, 1); }),
              HasSubstr("transpose: axis \"x\" is to be what cuts dimension 1"));
  EXPECT_THAT(refusal_of([&] { op::reduce_from(layout("f32[8] on (x=2) {x: partial(max)}"), "x"); }, Code::unsupported),
              HasSubstr("only a pending sum is linear"));
  EXPECT_THAT(refusal_of([&] {
                op::scatter_to(layout("f32[8] on (x=3)"), "x", 0, op::sizes({4, 4}));
              }),
              HasSubstr("axis \"x\""));
}

// Sub-axes by the name of their group.
TEST(Names, AGroupIsOneAxis) {
  const Layout plain = layout("i64[9] on (tp=4 as (kv=2, rep=2))");
  const LinearOp op = op::scatter_to(plain, "tp", 0);
  EXPECT_EQ(op.out().text(), "i64[9] on (tp=4 as (kv=2, rep=2)) {0: tp:balanced}");
  EXPECT_EQ(op::gather_from_copy_to(op.out(), "tp", 0).out().text(),
            "i64[9] on (tp=4 as (kv=2, rep=2)) {kv: varying, rep: varying}");
  EXPECT_EQ(check_adjoint(op).error, 0);
}

// What a reduction by way of f32 damages.
TEST(Dtypes, SumsAreNotDemoted) {
  thread_ranks(3, [](World& world) {
    const auto sum_of = [&](auto one, const char* dtype) {
      using T = decltype(one);
      const LinearOp op = op::reduce_from(layout(std::string(dtype) + "[1] on (x=3) {x: partial(sum)}"), "x");
      Tensor x = world.allocate(op.in());
      set<T>(x, {one});
      return elements<T>(op.forward(world, x))[0];
    };
    const Index r = world.rank().value();
    EXPECT_EQ(sum_of(Index{(1 << 24) + 1}, "i64"), 3 * ((1 << 24) + 1));
    EXPECT_EQ(sum_of((Index{1} << 53) + 1, "i64"), 3 * ((Index{1} << 53) + 1));
    EXPECT_EQ(sum_of(1.0 + 0x1p-40, "f64"), 3.0 + 3 * 0x1p-40);
    EXPECT_EQ(sum_of(std::complex<double>(1, static_cast<double>(r)), "complex128"), std::complex<double>(3, 3));
    EXPECT_EQ(sum_of(std::complex<float>(0, 2), "complex64"), std::complex<float>(0, 6));
    // 256 + 1 + 1 in bf16: each sum rounds to 256 by itself; 258 is exact.
    EXPECT_EQ(sum_of(std::uint16_t(r == 0 ? 0x4380 : 0x3f80), "bf16"), 0x4381);
    // 2048 + 1 + 1 in f16: the same.
    EXPECT_EQ(sum_of(std::uint16_t(r == 0 ? 0x6800 : 0x3c00), "f16"), 0x6801);
  });
}

}  // namespace
}  // namespace reshard
