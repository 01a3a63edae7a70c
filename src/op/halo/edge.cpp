#include "op/halo/edge.h"

#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "op/halo/constant.h"

namespace reshard::halo {
namespace {

Index modulo(Index a, Index n) { return (a % n + n) % n; }

// Back and forth over n cells; the one at an end comes twice in a row, or once.
Index reflected(Index at, Index n, bool twice) {
  const Index period = twice ? 2 * n : std::max<Index>(1, 2 * n - 2);
  const Index in = modulo(at, period);
  return in < n ? in : period - in - (twice ? 1 : 0);
}

bool is_unsigned(Dtype dtype) {
  return dtype == Dtype::boolean || dtype == Dtype::u8 || dtype == Dtype::u16 || dtype == Dtype::u32 ||
         dtype == Dtype::u64;
}

int counted_from_0(int dim, int dims, const std::string& what, const std::string& where) {
  if (dim < -dims || dim >= dims) fail(Code::invalid_argument, "{}: there is no dimension {}, {}", where, dim, what);
  return dim < 0 ? dim + dims : dim;
}

void check_width(const HaloDim& d, const std::string& where) {
  if (d.lo < 0 || d.hi < 0)
    fail(Code::invalid_argument, "{}: dimension {} cannot be widened by {} and {}; widths are 0 or more", where, d.dim,
         d.lo, d.hi);
  checked_add(d.lo, d.hi, "ghosts of a rank");
}

void check_pole(const Halo& halo, const HaloDim& d, const std::vector<Index>& shape, Dtype dtype,
                const std::string& where) {
  const auto longitude = static_cast<std::size_t>(d.edge.longitude);
  if (d.edge.longitude == d.dim)
    fail(Code::invalid_argument, "{}: dimension {} cannot have poles and be that of longitudes", where, d.dim);
  if (shape[longitude] % 2 != 0)
    fail(Code::invalid_argument,
         "{}: across a pole lies the opposite longitude, but dimension {} has {}, an odd number; interpolate to an "
         "even one",
         where, longitude, shape[longitude]);
  const HaloDim* along = dim_of(halo, longitude);
  if (along != nullptr && along->edge.kind != HaloEdge::Kind::periodic)
    fail(Code::invalid_argument, "{}: longitudes go round, so the halo along dimension {} is periodic, not {}", where,
         longitude, along->edge.text());
  if (d.edge.flips && is_unsigned(dtype))
    fail(Code::invalid_argument, "{}: {} has no sign to change at a pole; use a signed dtype", where, name_of(dtype));
}

}  // namespace

Origin origin_of(const HaloEdge& edge, Index at, Index extent) {
  if (at >= 0 && at < extent) return {.cell = at};
  switch (edge.kind) {
    case HaloEdge::Kind::none: break;
    case HaloEdge::Kind::zero:
    case HaloEdge::Kind::constant: return {.is_constant = true};
    case HaloEdge::Kind::clamp: return {.cell = at < 0 ? 0 : extent - 1};
    case HaloEdge::Kind::mirror: return {.cell = reflected(at, extent, false)};
    case HaloEdge::Kind::periodic: return {.cell = modulo(at, extent)};
    case HaloEdge::Kind::pole:
      return {.crosses = modulo(at, 2 * extent) >= extent, .cell = reflected(at, extent, true)};
  }
  fail(Code::internal, "cell {} of {} has no origin", at, extent);
}

Halo checked(const Halo& halo, const std::vector<Index>& shape, Dtype dtype, const std::string& where) {
  Halo result = halo;
  const int dims = static_cast<int>(shape.size());
  for (HaloDim& d : result.dims) {
    d.dim = counted_from_0(d.dim, dims, "to be widened", where);
    check_width(d, where);
    if (d.edge.kind == HaloEdge::Kind::pole)
      d.edge.longitude = counted_from_0(d.edge.longitude, dims, "of the longitudes of a pole", where);
    if (d.edge.kind == HaloEdge::Kind::constant) constant_words(d.edge.value, dtype, where);
  }
  for (std::size_t k = 0; k < result.dims.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      if (result.dims[j].dim == result.dims[k].dim)
        fail(Code::invalid_argument, "{}: dimension {} is listed twice", where, result.dims[k].dim);
  const auto has_pole = [](const HaloDim& d) { return d.edge.kind == HaloEdge::Kind::pole; };
  if (std::ranges::count_if(result.dims, has_pole) > 1)
    fail(Code::unsupported, "{}: only one dimension can have poles", where);
  if (const HaloDim* pole = pole_of(result)) check_pole(result, *pole, shape, dtype, where);
  return result;
}

std::vector<std::size_t> order_of(const Halo& halo) {
  std::vector<std::size_t> order(halo.dims.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t k) { return halo.dims[k].edge.kind == HaloEdge::Kind::pole; });
  return order;
}

const HaloDim* pole_of(const Halo& halo) {
  const auto found = std::ranges::find(halo.dims, HaloEdge::Kind::pole, [](const HaloDim& d) { return d.edge.kind; });
  return found == halo.dims.end() ? nullptr : &*found;
}

const HaloDim* dim_of(const Halo& halo, std::size_t dim) {
  const auto found = std::ranges::find(halo.dims, static_cast<int>(dim), &HaloDim::dim);
  return found == halo.dims.end() ? nullptr : &*found;
}

}  // namespace reshard::halo
