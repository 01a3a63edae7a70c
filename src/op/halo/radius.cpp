// How far stencils on a sphere reach beyond the rows of a rank.
#include <algorithm>

#include "base/checked.h"
#include "base/fail.h"
#include "reshard/halo.h"

namespace reshard {
namespace {

void check_rows(std::span<const double> colatitudes, std::span<const Index> splits, const char* what) {
  Index rows = 0;
  for (const Index split : splits) {
    if (split < 0) fail(Code::invalid_argument, "halo_radius: {} splits have a length of {}", what, split);
    rows = checked_add(rows, split, "rows of all ranks");
  }
  if (rows != std::ssize(colatitudes))
    fail(Code::invalid_argument, "halo_radius: {} splits add up to {} rows, but there are {} colatitudes", what, rows,
         colatitudes.size());
  for (std::size_t row = 1; row < colatitudes.size(); ++row)
    if (!(colatitudes[row - 1] < colatitudes[row]))
      fail(Code::invalid_argument, "halo_radius: {} colatitudes do not ascend at row {}: {} and {}", what, row,
           colatitudes[row - 1], colatitudes[row]);
}

// Rows [begin, end).
struct Rows {
  Index begin = 0;
  Index end = 0;
};

// Input rows within `cutoff` of any of the output rows.
Rows reach_of(std::span<const double> in, std::span<const double> out, Rows rows, double cutoff) {
  const auto first = std::ranges::lower_bound(in, out[static_cast<std::size_t>(rows.begin)] - cutoff);
  const auto last = std::ranges::upper_bound(in, out[static_cast<std::size_t>(rows.end - 1)] + cutoff);
  return {first - in.begin(), last - in.begin()};
}

void check_allowed(Index radius, std::size_t rank, Index smallest, const HaloRadiusOptions& options) {
  if (options.most && radius > *options.most)
    fail(
        Code::invalid_argument,
        "halo_radius: rank {} needs {} rows around its own, more than the {} allowed; widen by {} all the same (ghosts "
        "may come from several ranks away), take fewer ranks or a smaller cutoff, or compute all rows and "
        "reduce-scatter",
        rank, radius, *options.most, radius);
  if (options.next_neighbours_only && radius > smallest)
    fail(Code::invalid_argument,
         "halo_radius: rank {} needs {} rows around its own, but the smallest shard has {}, so that next neighbours do "
         "not have them all; widen by {} all the same (ghosts may come from several ranks away), take fewer ranks or a "
         "smaller cutoff, or compute all rows and reduce-scatter",
         rank, radius, smallest, radius);
}

}  // namespace

Index halo_radius(std::span<const double> in, std::span<const double> out, double cutoff,
                  std::span<const Index> in_splits, std::span<const Index> out_splits,
                  const HaloRadiusOptions& options) {
  check_rows(in, in_splits, "input");
  check_rows(out, out_splits, "output");
  if (in_splits.size() != out_splits.size())
    fail(Code::invalid_argument, "halo_radius: the input is split for {} ranks, the output for {}", in_splits.size(),
         out_splits.size());
  if (!(cutoff >= 0)) fail(Code::invalid_argument, "halo_radius: the cutoff is {}; it is 0 or more", cutoff);
  Index radius = 0;
  std::size_t widest = 0;
  Rows own_in, own_out;
  for (std::size_t rank = 0; rank < in_splits.size(); ++rank) {
    own_in = {own_in.end, own_in.end + in_splits[rank]};
    own_out = {own_out.end, own_out.end + out_splits[rank]};
    if (own_out.begin == own_out.end) continue;
    const Rows reach = reach_of(in, out, own_out, cutoff);
    if (reach.begin == reach.end) continue;
    const Index needed = std::max(own_in.begin - reach.begin, reach.end - own_in.end);
    if (needed <= radius) continue;
    radius = needed;
    widest = rank;
  }
  const Index smallest = in_splits.empty() ? 0 : std::ranges::min(in_splits);
  check_allowed(radius, widest, smallest, options);
  return radius;
}

}  // namespace reshard
