// A layer y = tanh(x A) B and its gradient, on 3 ranks that have 3, 2 and 2 of the 7 hidden units. Tensor-parallel: all
// have all rows of x. Sequence-parallel: each keeps its own rows, and all are gathered on the way in. The two differ in
// the operators at the ends; what each rank computes is the same.
#include <cmath>
#include <iostream>
#include <mutex>

#include "reshard/primitives.h"
#include "shard.h"

using namespace reshard;

constexpr Index rows = 4, inputs = 3, hidden = 7, outputs = 2;
double number(Index seed, Index i, Index j) { return std::sin(static_cast<double>(100 * seed + 10 * i + j)); }
double a_of(Index i, Index f) { return number(1, i, f); }
double b_of(Index f, Index o) { return number(2, f, o); }

// What the hidden units [begin, end) make of all rows of x, and of the gradient of y.
template <class X, class Gy, class Y, class Gx>
void layer(Index begin, Index end, const X& x, const Gy& gy, const Y& y, const Gx& gx) {
  for (Index r = 0; r < rows; ++r)
    for (Index f = begin; f < end; ++f) {
      double sum = 0, back = 0;
      for (Index i = 0; i < inputs; ++i) sum += x(r, i) * a_of(i, f);
      const double h = std::tanh(sum);
      for (Index o = 0; o < outputs; ++o) y(r, o) += h * b_of(f, o), back += gy(r, o) * b_of(f, o);
      for (Index i = 0; i < inputs; ++i) gx(r, i) += back * (1 - h * h) * a_of(i, f);
    }
}

// The greatest difference to one rank, of y and of the gradient of x.
double run(World& world, const LinearOp& enter, const LinearOp& leave) {
  Tensor x = world.allocate(enter.in()), gy = world.allocate(leave.out_dual());
  const Shard<double, 2> own(x), given(gy);
  own.each([&](double& e, Index r, Index i) { e = number(3, own.first[0] + r, i); });
  given.each([&](double& e, Index r, Index o) { e = number(4, given.first[0] + r, o); });

  Tensor all_x = enter.forward(world, x), all_gy = leave.adjoint(world, gy);
  Tensor terms = world.allocate(leave.in()), gterms = world.allocate(enter.out_dual());
  const std::vector<Index> units = op::compute_split_shapes(hidden, world.ranks());
  Index begin = 0;
  for (Index r = 0; r < world.rank().value(); ++r) begin += units[static_cast<std::size_t>(r)];
  layer(begin, begin + units[static_cast<std::size_t>(world.rank().value())], Shard<double, 2>(all_x),
        Shard<double, 2>(all_gy), Shard<double, 2>(terms), Shard<double, 2>(gterms));
  Tensor y = leave.forward(world, terms), gx = enter.adjoint(world, gterms);

  double whole_y[rows][outputs]{}, whole_gx[rows][inputs]{}, error = 0;
  layer(
      0, hidden, [](Index r, Index i) { return number(3, r, i); }, [](Index r, Index o) { return number(4, r, o); },
      [&](Index r, Index o) -> double& { return whole_y[r][o]; },
      [&](Index r, Index i) -> double& { return whole_gx[r][i]; });
  const auto compare = [&](Tensor& tensor, const auto& whole) {
    const Shard<double, 2> shard(tensor);
    shard.each(
        [&](double& e, Index r, Index c) { error = std::max(error, std::abs(e - whole[shard.first[0] + r][c])); });
  };
  compare(y, whole_y), compare(gx, whole_gx);
  return error;
}

int main() {
  const Layout all = layout("f64[4,3] on (tp=3)"), cut = layout("f64[4,3] on (tp=3) {0: tp:balanced}");
  const Layout terms = layout("f64[4,2] on (tp=3) {tp: partial(sum)}");
  const std::pair<LinearOp, LinearOp> ends[] = {
      {op::copy_to(all, "tp"), op::reduce_from(terms, "tp")},
      {op::gather_from_copy_to(cut, "tp", 0), op::reduce_from_scatter_to(terms, "tp", 0)}};
  for (const auto& [enter, leave] : ends) {
    std::mutex mutex;
    double error = 0;
    thread_ranks(3, [&](World& world) {
      const double mine = run(world, enter, leave);
      const std::scoped_lock lock(mutex);
      error = std::max(error, mine);
    });
    std::cout << enter.name() << " and " << leave.name() << ": "
              << (error < 1e-15 ? "value and gradient are those of one rank" : "WRONG") << "\n";
  }
}
