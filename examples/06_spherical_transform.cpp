// A field on a sphere, cut among 3 x 2 ranks, to its spherical harmonics, in two ways: by transposes alone, and by
// adding up what each rank's latitudes contribute. The first moves fewer bytes here, the second needs no rank to have
// all latitudes of its table. Both give back the coefficients of which the field was made.
#include <complex>
#include <iostream>
#include <mutex>

#include "reshard/primitives.h"
#include "shard.h"
#include "sphere.h"

using namespace reshard;
using Complex = std::complex<double>;

constexpr int latitudes = 7, longitudes = 10, degrees = 5, orders = 4;
const Latitudes gauss = gauss_latitudes(latitudes);

// Of degree l and order m <= l.
Complex coefficient(Index l, Index m) {
  return m > l ? 0 : Complex(1.0 + static_cast<double>(l), m == 0 ? 0 : 2.0 - static_cast<double>(m));
}
double table(Index l, Index m, Index k) {
  return m > l ? 0 : legendre(static_cast<int>(l), static_cast<int>(m), gauss.cosine[static_cast<std::size_t>(k)]);
}
Complex wave(Index m, Index lon, double sign) {
  return std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(m * lon) / longitudes);
}
double field(Index lat, Index lon) {
  double sum = 0;
  for (Index l = 0; l < degrees; ++l)
    for (Index m = 0; m <= l && m < orders; ++m)
      sum += (m == 0 ? 1 : 2) * (coefficient(l, m) * wave(m, lon, 1)).real() * table(l, m, lat);
  return sum;
}

struct Ledger {
  Index bytes = 0, entries = 0;  // got from other ranks; of the table, on the rank that holds most
  double error = 0;
};

Ledger transform(World& world, bool by_transposes) {
  Ledger ledger;
  const auto moved = [&](const LinearOp& op, Tensor& x) {
    Tensor y = world.allocate(op.out());
    ledger.bytes += op.forward(world, x, y).bytes_got;
    return y;
  };
  const op::Grid grid(mesh("(polar=3, azimuth=2)"));
  Tensor x = world.allocate(layout("f64[1,7,10] on (polar=3, azimuth=2) {1: polar:balanced, 2: azimuth:balanced}"));
  const Shard<double, 3> given(x);
  given.each([&](double& e, Index, Index k, Index j) { e = field(given.first[1] + k, given.first[2] + j); });

  Tensor padded = moved(op::flatten_and_pad_leading_dims(x.layout(), 3), x);  // so that both axes can cut it
  Tensor rows = moved(op::distributed_transpose_azimuth(grid, padded.layout(), {0, 2}), padded);
  Tensor modes = world.allocate(rows.layout().with_dtype(Dtype::complex128).with_shape({3, latitudes, orders}));
  const Shard<double, 3> row(rows);
  Shard<Complex, 3>(modes).each([&](Complex& e, Index n, Index k, Index m) {
    for (Index lon = 0; lon < longitudes; ++lon) e += row(n, k, lon) * wave(m, lon, -1) / double{longitudes};
  });
  Tensor cut = moved(op::distributed_transpose_azimuth(grid, modes.layout(), {2, 0}), modes);

  if (by_transposes) cut = moved(op::distributed_transpose_polar(grid, cut.layout(), {0, 1}), cut);  // all latitudes
  LayoutSpec spec = cut.layout().with_shape({3, degrees, orders}).spec();
  if (!by_transposes) {
    spec.cuts[1].clear();
    spec.kinds[0] = {.kind = AxisKind::Kind::partial};  // each rank adds up over its latitudes: the sum is pending
  }
  Tensor sums = world.allocate(Layout(spec));
  const Shard<Complex, 3> c(cut), s(sums);
  s.each([&](Complex& e, Index n, Index l, Index m) {
    for (Index k = 0; k < c.size[1]; ++k)
      e += c(n, k, m) * table(l, s.first[2] + m, c.first[1] + k) *
           gauss.weight[static_cast<std::size_t>(c.first[1] + k)];
  });
  ledger.entries = degrees * c.size[1] * c.size[2];
  Tensor y = by_transposes ? moved(op::distributed_transpose_polar(grid, sums.layout(), {1, 0}), sums)
                           : moved(op::reduce_from_scatter_to_polar_region(grid, sums.layout(), 1), sums);
  const Shard<Complex, 3> found(y);
  found.each([&](Complex& e, Index n, Index l, Index m) {
    const Complex expected = n > 0 ? 0 : coefficient(found.first[1] + l, found.first[2] + m);
    ledger.error = std::max(ledger.error, std::abs(e - expected));
  });
  return ledger;
}

int main() {
  for (const bool by_transposes : {true, false}) {
    std::mutex mutex;
    Ledger all;
    thread_ranks(6, [&](World& world) {
      const Ledger mine = transform(world, by_transposes);
      const std::scoped_lock lock(mutex);
      all = {all.bytes + mine.bytes, std::max(all.entries, mine.entries), std::max(all.error, mine.error)};
    });
    std::cout << (by_transposes ? "four transposes:           " : "and one reduce-scatter:    ") << all.bytes
              << " bytes moved, at most " << all.entries << " entries of the table on a rank, "
              << (all.error < 1e-13 ? "coefficients as they were" : "WRONG") << "\n";
  }
}
