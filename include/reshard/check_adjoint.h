// Whether an operator's adjoint is its adjoint: <A x, y> == <x, A* y> for values from a seed.
//
//   check_adjoint(op::transpose(layout("i64[7,5] on (x=3) {0: x}"), "x", 1, 0));  // throws where it is not
//
// Each value meets its gradient once (the pairing of docs/design/operators.md): along an axis where a value is cut,
// exists at one coordinate, varies or pends, local products are summed over the ranks; along an invariant axis one rank
// counts, and all must come to the same. Complex numbers are conjugated on the left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reshard/op.h"

namespace reshard {

struct AdjointOptions {
  std::uint64_t seed = 1;
  // Greatest |<A x, y> - <x, A* y>| relative to the sum of absolute products; none: that of the dtype. Integers are
  // exact always: they wrap on both sides alike.
  std::optional<double> tolerance = {};
};

struct AdjointReport {
  std::string forward;  // <A x, y>, in digits
  std::string adjoint;  // <x, A* y>
  double error = 0;     // relative to the sum of absolute products
  double tolerance = 0;
};

// 1e-12 for f64 and complex128, 1e-5 for f32 and complex64. Floats of 16 and 8 bits get small integers as values, whose
// sums are exact over up to 32 ranks (f8e4m3 and f8e5m2: 8): 1e-3. 0 for integers.
double adjoint_tolerance(Dtype dtype);

// Collective; runs the operator once forward and once back. Throws Error(corrupt) on every rank, naming operator, dtype
// and both numbers, when they differ, or when ranks that hold one invariant value came to different ones.
// Throws Error(unsupported) for bool. Cost: O(local elements) beside the operator.
AdjointReport check_adjoint(World& world, const LinearOp& op, const AdjointOptions& options = {});
// The same on virtual ranks: threads of this process, as many as the operator's meshes need.
AdjointReport check_adjoint(const LinearOp& op, const AdjointOptions& options = {});

}  // namespace reshard
