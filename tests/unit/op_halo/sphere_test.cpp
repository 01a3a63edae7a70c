// Halos by the names of the axes of a sphere: no axis, an axis of one, several ranks, no grid.
#include <gmock/gmock.h>

#include "reshard/check_adjoint.h"
#include "reshard/error.h"
#include "reshard/halo.h"
#include "reshard/primitives.h"

namespace reshard {
namespace {

using op::Grid;
using testing::HasSubstr;

Layout on_grid(const char* text) { return layout(text); }

TEST(SphereHalo, WidensWhatItsAxisCuts) {
  const Layout in = on_grid("f64[2,3,10,8] on (polar=3, azimuth=2) {2: polar:balanced, 3: azimuth}");
  const Grid grid(in.mesh());
  const LinearOp rows = op::polar_halo_exchange(grid, in, 1);
  EXPECT_EQ(rows.out().text(), "f64[2,3,16,8] on (polar=3, azimuth=2) {2: polar:sizes[6,5,5], 3: azimuth}");
  EXPECT_EQ(rows.name(), "polar_halo_exchange");
  EXPECT_EQ(op::azimuth_halo_exchange(grid, in, 2).out().text(),
            "f64[2,3,10,16] on (polar=3, azimuth=2) {2: polar:balanced, 3: azimuth:sizes[8,8]}");
  EXPECT_EQ(op::polar_halo_reduce(grid, in, 1).in(), rows.out());
  EXPECT_EQ(op::azimuth_halo_reduce(grid, in, 2).out(), in);
}

TEST(SphereHalo, AdjointsAreExact) {
  const Layout in = on_grid("i64[2,5,8] on (polar=3, azimuth=2) {1: polar:balanced, 2: azimuth}");
  const Grid grid(in.mesh());
  for (const Index radius : {0, 1, 4}) {
    check_adjoint(op::polar_halo_exchange(grid, in, radius));
    check_adjoint(op::polar_halo_exchange(grid, in, radius, -2, HaloEdge::pole(-1, true)));
    check_adjoint(op::azimuth_halo_exchange(grid, in, radius));
    check_adjoint(op::polar_halo_reduce(grid, in, radius));
    check_adjoint(op::azimuth_halo_reduce(grid, in, radius));
  }
}

TEST(SphereHalo, WithoutTheAxisNothingIsWidened) {
  const Layout in = on_grid("f64[10,8] on (azimuth=2) {1: azimuth}");
  const LinearOp op = op::polar_halo_exchange(Grid(in.mesh()), in, 1);
  EXPECT_EQ(op.out(), in);
  check_adjoint(op);
}

TEST(SphereHalo, AnAxisOfOneRankIsWidenedAsAnyOther) {
  const Layout in = on_grid("f64[10,8] on (polar=1) {0: polar}");
  const LinearOp op = op::polar_halo_exchange(Grid(in.mesh()), in, 1);
  EXPECT_EQ(op.out().text(), "f64[12,8] on (polar=1) {0: polar:sizes[12]}");
  check_adjoint(op);
}

std::string refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return error.what();
  }
  return "nothing";
}

TEST(SphereHalo, RefusesWhatIsNoGridOrCutsAnotherDimension) {
  const Layout in = on_grid("f64[10,8] on (polar=2, azimuth=2) {0: polar, 1: azimuth}");
  const Layout other = on_grid("f64[10,8] on (polar=2) {0: polar}");
  EXPECT_THAT(refused([&] { op::polar_halo_exchange(Grid(), in, 1); }), HasSubstr("the grid is not initialised"));
  EXPECT_THAT(refused([&] { op::polar_halo_exchange(Grid(in.mesh()), other, 1); }), HasSubstr("on another mesh"));
  EXPECT_THAT(refused([&] { op::polar_halo_exchange(Grid(in.mesh()), in, 1, 1); }), HasSubstr("polar_halo_exchange"));
  EXPECT_THAT(refused([&] { op::azimuth_halo_exchange(Grid(in.mesh()), in, -1); }), HasSubstr("-1"));
}

}  // namespace
}  // namespace reshard
