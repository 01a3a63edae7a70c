// Operators put together, against the same computed by one rank: a transform on a sphere, and a layer of a network with
// its gradient.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <mutex>
#include <numbers>

#include "global_values.h"
#include "reshard/primitives.h"

namespace reshard {
namespace {

using Complex = std::complex<double>;

constexpr Index kLatitudes = 7, kLongitudes = 10, kDegrees = 5, kOrders = 4;

// One element, by its global indices, of a 3-D tensor.
template <class T>
class Elements {
 public:
  explicit Elements(Tensor& tensor) : tensor_(tensor) {}
  // Calls visit(element, i, j, k) for all that the rank holds.
  template <class Visit>
  void each(Visit visit) {
    const std::vector<Index>& shape = tensor_.layout().shape();
    each_held(tensor_.layout(), tensor_.rank(), [&](Index address, Index linear) {
      visit(reinterpret_cast<T*>(tensor_.bytes().data())[address], linear / (shape[1] * shape[2]),
            linear / shape[2] % shape[1], linear % shape[2]);
    });
  }
  T get(Index i, Index j, Index k) {
    T found{};
    bool is_held = false;
    each([&](T& element, Index a, Index b, Index c) {
      if (a == i && b == j && c == k) found = element, is_held = true;
    });
    EXPECT_TRUE(is_held) << i << "," << j << "," << k << " of " << tensor_.layout_text();
    return found;
  }

 private:
  Tensor& tensor_;
};

double field(Index n, Index lat, Index lon) { return n > 0 ? 0 : std::sin(static_cast<double>(1 + 3 * lat + 7 * lon)); }
double table(Index m, Index l, Index k) { return std::cos(static_cast<double>(1 + 5 * m + 2 * l + 3 * k)); }

// Mode m of one circle of latitude.
template <class At>
Complex mode(Index m, At at) {
  Complex sum = 0;
  for (Index lon = 0; lon < kLongitudes; ++lon)
    sum += at(lon) * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(m * lon) / kLongitudes);
  return sum / static_cast<double>(kLongitudes);
}

template <class At>
Complex contraction(Index l, Index m, At at) {
  Complex sum = 0;
  for (Index k = 0; k < kLatitudes; ++k) sum += at(k) * table(m, l, k);
  return sum;
}

Complex serial(Index n, Index l, Index m) {
  return contraction(l, m, [&](Index k) { return mode(m, [&](Index lon) { return field(n, k, lon); }); });
}

// A tensor of modes on the layout that an operator takes, computed from what this rank holds.
template <class From, class Compute>
Tensor computed(World& world, const Layout& layout, Tensor& from, Compute compute) {
  Tensor to = world.allocate(layout);
  Elements<From> given(from);
  Elements<Complex>(to).each([&](Complex& element, Index i, Index j, Index k) { element = compute(given, i, j, k); });
  return to;
}

// A grid of 3 by 2 ranks; one field, padded to 3 so that both axes can cut it.
class Sphere : public testing::Test {
 protected:
  static constexpr const char* mesh_text = "(polar=3, azimuth=2)";
  op::Grid grid{mesh(mesh_text)};
  LinearOp pad = op::flatten_and_pad_leading_dims(
      layout(fmt::format("f64[1,7,10] on {} {{1: polar:balanced, 2: azimuth:balanced}}", mesh_text)), 3);
  LinearOp whole_longitudes = op::distributed_transpose_azimuth(grid, pad.out(), {0, 2});
  Layout modes = whole_longitudes.out().with_dtype(Dtype::complex128).with_shape({3, kLatitudes, kOrders});
  LinearOp cut_orders = op::distributed_transpose_azimuth(grid, modes, {2, 0});

  // Modes cut by latitude and order.
  Tensor analysed(World& world, Index& bytes) {
    Tensor x = world.allocate(pad.in());
    Elements<double>(x).each([](double& e, Index n, Index lat, Index lon) { e = field(n, lat, lon); });
    Tensor padded = pad.forward(world, x), rows = world.allocate(whole_longitudes.out());
    bytes += whole_longitudes.forward(world, padded, rows).bytes_got;
    Tensor local = computed<double>(world, modes, rows, [](Elements<double>& f, Index n, Index lat, Index m) {
      return mode(m, [&](Index lon) { return f.get(n, lat, lon); });
    });
    Tensor cut = world.allocate(cut_orders.out());
    bytes += cut_orders.forward(world, local, cut).bytes_got;
    return cut;
  }
};

TEST_F(Sphere, ByTransposesIsTheSerialTransformToTheBitAndMovesWhatTheFormulaSays) {
  std::mutex mutex;
  Index sent = 0;
  thread_ranks(6, [&](World& world) {
    Index bytes = 0;
    Tensor cut = analysed(world, bytes);
    const LinearOp whole_latitudes = op::distributed_transpose_polar(grid, cut.layout(), {0, 1});
    Tensor columns = world.allocate(whole_latitudes.out());
    bytes += whole_latitudes.forward(world, cut, columns).bytes_got;
    Tensor local = computed<Complex>(world, columns.layout().with_shape({3, kDegrees, kOrders}), columns,
                                     [](Elements<Complex>& f, Index n, Index l, Index m) {
                                       return contraction(l, m, [&](Index k) { return f.get(n, k, m); });
                                     });
    const LinearOp cut_degrees = op::distributed_transpose_polar(grid, local.layout(), {1, 0});
    Tensor y = world.allocate(cut_degrees.out());
    bytes += cut_degrees.forward(world, local, y).bytes_got;
    EXPECT_EQ(y.layout().text(), "complex128[3,5,4] on (polar=3, azimuth=2) {1: polar:balanced, 2: azimuth:balanced}");
    Elements<Complex>(y).each([](Complex& e, Index n, Index l, Index m) { EXPECT_EQ(e, serial(n, l, m)); });
    const std::lock_guard lock(mutex);
    sent += bytes;
  });
  EXPECT_EQ(sent, 3048);
}

TEST_F(Sphere, ByAReduceScatterDiffersInTheLastBitsOnly) {
  thread_ranks(6, [&](World& world) {
    Index bytes = 0;
    Tensor cut = analysed(world, bytes);
    LayoutSpec spec = cut.layout().with_shape({3, kDegrees, kOrders}).spec();
    spec.cuts[1].clear();
    spec.kinds[0] = {AxisKind::Kind::partial, ReduceOp::sum, 0};
    // Over the latitudes of this rank.
    Tensor terms = computed<Complex>(world, Layout(spec), cut, [](Elements<Complex>& f, Index n, Index l, Index m) {
      Complex sum = 0;
      f.each([&](Complex& e, Index field_number, Index k, Index order) {
        if (field_number == n && order == m) sum += e * table(m, l, k);
      });
      return sum;
    });
    Tensor y = op::reduce_from_scatter_to_polar_region(grid, terms.layout(), 1).forward(world, terms);
    Elements<Complex>(y).each(
        [](Complex& e, Index n, Index l, Index m) { EXPECT_LE(std::abs(e - serial(n, l, m)), 1e-15); });
  });
}

// y = tanh(x A) B, with A cut by columns and B by rows: 7 hidden numbers on 3 ranks are 3, 2, 2.
namespace mlp {

constexpr Index kRows = 4, kIn = 3, kHidden = 7, kOut = 2;
double x(Index r, Index i) { return std::sin(static_cast<double>(1 + r * kIn + i)); }
double a(Index i, Index f) { return std::sin(static_cast<double>(20 + i * kHidden + f)); }
double b(Index f, Index o) { return std::sin(static_cast<double>(50 + f * kOut + o)); }
double gy(Index r, Index o) { return std::sin(static_cast<double>(80 + r * kOut + o)); }
double hidden(Index r, Index f) {
  double sum = 0;
  for (Index i = 0; i < kIn; ++i) sum += x(r, i) * a(i, f);
  return std::tanh(sum);
}
double gradient_of_hidden(Index r, Index f) {
  double sum = 0;
  for (Index o = 0; o < kOut; ++o) sum += gy(r, o) * b(f, o);
  return sum * (1 - hidden(r, f) * hidden(r, f));
}
// Over the hidden numbers [begin, end).
double y_of(Index r, Index o, Index begin, Index end) {
  double sum = 0;
  for (Index f = begin; f < end; ++f) sum += hidden(r, f) * b(f, o);
  return sum;
}
double gx_of(Index r, Index i, Index begin, Index end) {
  double sum = 0;
  for (Index f = begin; f < end; ++f) sum += gradient_of_hidden(r, f) * a(i, f);
  return sum;
}

}  // namespace mlp

template <class Value>
void fill_rows(Tensor& tensor, Value value) {
  const Index columns = tensor.layout().shape()[1];
  each_held(tensor.layout(), tensor.rank(), [&](Index address, Index linear) {
    reinterpret_cast<double*>(tensor.bytes().data())[address] = value(linear / columns, linear % columns);
  });
}

template <class Value>
void expect_rows(const Tensor& tensor, Value value) {
  const Index columns = tensor.layout().shape()[1];
  each_held(tensor.layout(), tensor.rank(), [&](Index address, Index linear) {
    EXPECT_NEAR(reinterpret_cast<const double*>(tensor.bytes().data())[address],
                value(linear / columns, linear % columns), 9e-16)
        << tensor.layout_text();
  });
}

// x invariant, or cut by rows: gathered for all, and the result scattered again.
TEST(TensorParallel, ForwardAndGradientAreThoseOfOneRank) {
  for (const bool by_rows : {false, true})
    thread_ranks(3, [by_rows](World& world) {
      const Layout in = layout(by_rows ? "f64[4,3] on (tp=3) {0: tp:balanced}" : "f64[4,3] on (tp=3)");
      const Layout pending = layout("f64[4,2] on (tp=3) {tp: partial(sum)}");
      const LinearOp enter = by_rows ? op::gather_from_copy_to(in, "tp", 0) : op::copy_to(in, "tp");
      const LinearOp leave = by_rows ? op::reduce_from_scatter_to(pending, "tp", 0) : op::reduce_from(pending, "tp");
      const Index begins[] = {0, 3, 5, 7};
      const auto r = static_cast<std::size_t>(world.rank().value());
      const Index begin = begins[r], end = begins[r + 1];

      Tensor x = world.allocate(in);
      fill_rows(x, mlp::x);
      expect_rows(enter.forward(world, x), mlp::x);
      Tensor terms = world.allocate(leave.in());
      fill_rows(terms, [&](Index row, Index o) { return mlp::y_of(row, o, begin, end); });
      expect_rows(leave.forward(world, terms), [](Index row, Index o) { return mlp::y_of(row, o, 0, mlp::kHidden); });

      Tensor gy = world.allocate(leave.out_dual());
      fill_rows(gy, mlp::gy);
      expect_rows(leave.adjoint(world, gy), mlp::gy);
      Tensor gx_terms = world.allocate(enter.out_dual());
      fill_rows(gx_terms, [&](Index row, Index i) { return mlp::gx_of(row, i, begin, end); });
      expect_rows(enter.adjoint(world, gx_terms),
                  [](Index row, Index i) { return mlp::gx_of(row, i, 0, mlp::kHidden); });
    });
}

}  // namespace
}  // namespace reshard
