#include "reshard/check_adjoint.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "op/elements.h"
#include "op/kinds.h"
#include "op/pairing.h"
#include "op/values.h"

namespace reshard {
namespace {

// Which term of a pending sum a rank holds: terms differ, and copies of one value do not.
std::uint64_t term_of(const Layout& layout, RankId rank) {
  const auto coordinate = layout.mesh().coordinate_of(rank);
  std::uint64_t term = 0;
  for (std::size_t axis = 0; coordinate && axis < coordinate->size(); ++axis)
    if (op::kind_of(layout.spec().kinds[axis]) == op::ValueKind::pending)
      term = term * static_cast<std::uint64_t>(layout.mesh().axes()[axis].size) +
             static_cast<std::uint64_t>((*coordinate)[axis]);
  return term;
}

void fill(Tensor& tensor, std::uint64_t seed) {
  const Dtype dtype = tensor.layout().dtype();
  const std::uint64_t term = term_of(tensor.layout(), tensor.rank());
  op::each_element(tensor, [&](Index address, Index linear) {
    op::write_value(dtype, tensor.bytes().data() + address * bytes_of(dtype),
                    seed * 0x9e3779b97f4a7c15u + (term << 40) + static_cast<std::uint64_t>(linear));
  });
}

std::string digits_of(const op::Dot& dot, Dtype dtype) {
  if (op::is_integer(dtype)) return fmt::format("{} mod 2^{}", dot.bits, 8 * bytes_of(dtype));
  if (op::is_complex(dtype)) return fmt::format("{:.17g}{:+.17g}i", dot.real, dot.imaginary);
  return fmt::format("{:.17g}", dot.real);
}

double error_between(const op::Dot& a, const op::Dot& b, Dtype dtype) {
  if (op::is_integer(dtype)) return a.bits == b.bits ? 0 : 1;
  const double difference = std::hypot(a.real - b.real, a.imaginary - b.imaginary);
  return difference == 0 ? 0 : difference / std::max(a.absolute, b.absolute);
}

}  // namespace

double adjoint_tolerance(Dtype dtype) {
  if (op::is_integer(dtype)) return 0;
  if (dtype == Dtype::f64 || dtype == Dtype::complex128) return 1e-12;
  return dtype == Dtype::f32 || dtype == Dtype::complex64 ? 1e-5 : 1e-3;
}

AdjointReport check_adjoint(World& world, const LinearOp& op, const AdjointOptions& options) {
  const Dtype dtype = op.in().dtype();
  if (dtype == Dtype::boolean)
    fail(Code::unsupported, "{}: bool has no sums: its adjoint cannot be checked", op.name());
  Tensor x = world.allocate(op.in(), "x"), gy = world.allocate(op.out_dual(), "gradient of y");
  fill(x, 2 * options.seed);
  fill(gy, 2 * options.seed + 1);
  const Tensor y = op.forward(world, x), gx = op.adjoint(world, gy);
  const std::vector<op::Dot> dots = op::paired(world, {{y, gy}, {x, gx}}, op.name());
  const op::Dot &forward = dots[0], &adjoint = dots[1];
  const AdjointReport report{.forward = digits_of(forward, dtype),
                             .adjoint = digits_of(adjoint, dtype),
                             .error = error_between(forward, adjoint, dtype),
                             .tolerance = options.tolerance.value_or(adjoint_tolerance(dtype))};
  if (!(report.error <= report.tolerance))
    fail(
        Code::corrupt,
        "{}: the adjoint is not the adjoint, in {}: <A x, y> is {}, <x, A* y> is {}, seed {}; they differ by {:.3g} of "
        "the products, more than {:.3g}",
        op.text(), name_of(dtype), report.forward, report.adjoint, options.seed, report.error, report.tolerance);
  return report;
}

AdjointReport check_adjoint(const LinearOp& op, const AdjointOptions& options) {
  const RankId end = std::max(op.in().mesh().end_rank(), op.out().mesh().end_rank());
  AdjointReport report;
  thread_ranks(end.value(), [&](World& world) {
    const AdjointReport own = check_adjoint(world, op, options);
    if (world.rank() == RankId(0)) report = own;  // the same on every rank
  });
  return report;
}

}  // namespace reshard
