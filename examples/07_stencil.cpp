// A 3 x 3 stencil on a field cut in both dimensions, corners included, and its gradient: the adjoint of the halo adds
// up what every rank's ghosts have earned.
#include <iostream>
#include <mutex>

#include "reshard/halo.h"
#include "shard.h"

using namespace reshard;

constexpr Index rows = 5, columns = 7;
constexpr double weights[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
double x_of(Index i, Index j) { return static_cast<double>(10 * i + j); }
double gy_of(Index i, Index j) { return static_cast<double>(i * i + 3 * j); }

// By one rank, with zeros beyond the first and last rows, and columns that go round.
double serial_y(Index i, Index j) {
  double sum = 0;
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < 3; ++b)
      if (const Index row = i + a - 1; row >= 0 && row < rows)
        sum += weights[a][b] * x_of(row, (j + b - 1 + columns) % columns);
  return sum;
}
double serial_gx(Index i, Index j) {
  double sum = 0;
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < 3; ++b)
      if (const Index row = i - a + 1; row >= 0 && row < rows)
        sum += weights[a][b] * gy_of(row, (j - b + 1 + columns) % columns);
  return sum;
}

int main() {
  std::mutex mutex;
  Index right = 0, wrong = 0, bytes = 0;
  thread_ranks(6, [&](World& world) {
    const Layout field = layout("f64[5,7] on (y=2, x=3) {0: y:balanced, 1: x:balanced}");
    const LinearOp widen = op::widen(field, {{{.dim = 0, .lo = 1, .hi = 1, .edge = HaloEdge::zero()},
                                              {.dim = 1, .lo = 1, .hi = 1, .edge = HaloEdge::periodic()}}});
    Tensor x = world.allocate(field), y = world.allocate(field), gy = world.allocate(field),
           wide = world.allocate(widen.out()), gwide = world.allocate(widen.out_dual());
    const Shard<double, 2> in(x), out(y), gout(gy), w(wide), gw(gwide);
    in.each([&](double& e, Index i, Index j) { e = x_of(in.first[0] + i, in.first[1] + j); });
    gout.each([&](double& e, Index i, Index j) { e = gy_of(in.first[0] + i, in.first[1] + j); });

    const Traffic moved = widen.forward(world, x, wide);
    out.each([&](double& e, Index i, Index j) {
      for (Index a = 0; a < 3; ++a)
        for (Index b = 0; b < 3; ++b) {
          e += weights[a][b] * w(i + a, j + b);
          gw(i + a, j + b) += weights[a][b] * gout(i, j);
        }
    });
    Tensor gx = widen.adjoint(world, gwide);

    const Shard<double, 2> gin(gx);
    const std::scoped_lock lock(mutex);
    bytes += moved.bytes_got;
    out.each([&](double& e, Index i, Index j) {
      const Index row = in.first[0] + i, column = in.first[1] + j;
      ++(e == serial_y(row, column) && gin(i, j) == serial_gx(row, column) ? right : wrong);
    });
  });
  std::cout << right << " cells and their gradients equal those of one rank, " << wrong << " do not; " << bytes
            << " bytes of halo\n";
}
