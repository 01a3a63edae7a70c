// Every latitude attends to those at most two away, on 4 ranks that hold 3, 3, 3 and 2 of 11. Keys and values come as a
// halo, which ends at the poles; the gradients of the ghosts are added up where they belong.
#include <cmath>
#include <iostream>
#include <mutex>

#include "reshard/halo.h"
#include "shard.h"

using namespace reshard;

constexpr Index rows = 11, width = 3, radius = 2;
double number(Index seed, Index i, Index d) { return std::sin(static_cast<double>(100 * seed + 10 * i + d)); }
double q_of(Index i, Index d) { return number(1, i, d); }
double kv_of(Index i, Index d) { return number(2, i, d); }  // d < width: key; then value
double gy_of(Index i, Index d) { return number(3, i, d); }

// Row i among the rows [begin, end): its result, and what it adds to the gradients of their keys and values.
template <class KeyValue, class Y, class Gradient>
void attend(Index i, Index begin, Index end, const KeyValue& kv, const Y& y, const Gradient& g) {
  double weights[2 * radius + 1]{}, sum = 0, loss = 0;
  for (Index s = begin; s < end; ++s) {
    double score = 0;
    for (Index d = 0; d < width; ++d) score += q_of(i, d) * kv(s, d);
    sum += weights[s - begin] = std::exp(score);
  }
  for (Index s = begin; s < end; ++s)
    for (Index d = 0; d < width; ++d) y(d) += weights[s - begin] / sum * kv(s, width + d);
  for (Index d = 0; d < width; ++d) loss += gy_of(i, d) * y(d);
  for (Index s = begin; s < end; ++s) {
    const double p = weights[s - begin] / sum;
    double up = 0;
    for (Index d = 0; d < width; ++d) up += gy_of(i, d) * kv(s, width + d), g(s, width + d) += p * gy_of(i, d);
    for (Index d = 0; d < width; ++d) g(s, d) += p * (up - loss) * q_of(i, d);
  }
}

int main() {
  double whole_y[rows][width]{}, whole_g[rows][2 * width]{};
  const auto first = [](Index i) { return std::max<Index>(i - radius, 0); };
  const auto last = [](Index i) { return std::min(i + radius + 1, rows); };
  for (Index i = 0; i < rows; ++i)
    attend(
        i, first(i), last(i), kv_of, [&](Index d) -> double& { return whole_y[i][d]; },
        [&](Index s, Index d) -> double& { return whole_g[s][d]; });
  std::mutex mutex;
  double error = 0;
  thread_ranks(4, [&](World& world) {
    const Layout cut = layout("f64[11,6] on (polar=4) {0: polar:balanced}");
    const Halo halo{{{.dim = 0, .lo = radius, .hi = radius, .edge = HaloEdge::none()}}};
    const LinearOp widen = op::widen(cut, halo);
    Tensor kv = world.allocate(cut);
    const Shard<double, 2> own(kv);
    own.each([&](double& e, Index i, Index d) { e = kv_of(own.first[0] + i, d); });

    Tensor wide = widen.forward(world, kv), gwide = world.allocate(widen.out_dual());
    const Shard<double, 2> w(wide), gw(gwide);
    const Index before = own.first[0] - HaloPlan(cut, halo).shard(world.rank()).own.offsets[0].value();
    std::vector<double> y(static_cast<std::size_t>(own.size[0] * width));
    for (Index i = own.first[0]; i < own.first[0] + own.size[0]; ++i)
      attend(
          i, first(i), last(i), [&](Index s, Index d) { return w(s - before, d); },
          [&](Index d) -> double& { return y[static_cast<std::size_t>((i - own.first[0]) * width + d)]; },
          [&](Index s, Index d) -> double& { return gw(s - before, d); });
    Tensor g = widen.adjoint(world, gwide);

    const Shard<double, 2> home(g);
    const std::scoped_lock lock(mutex);
    home.each([&](double& e, Index i, Index d) {
      error = std::max(error, std::abs(e - whole_g[own.first[0] + i][d]));
      if (d < width)
        error = std::max(error, std::abs(y[static_cast<std::size_t>(i * width + d)] - whole_y[own.first[0] + i][d]));
    });
  });
  std::cout << "outputs, and the gradients of keys and values, are " << (error < 1e-14 ? "those of one rank" : "WRONG")
            << "\n";
}
