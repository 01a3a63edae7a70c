#include "op/halo/strips.h"

#include <algorithm>

#include "op/halo/edge.h"

namespace reshard::halo {
namespace {

// Appends cells one after another, each to the strip before it where it goes on as that does.
class Strips {
 public:
  void add(const Strip& cell) {
    if (all_.empty() || !extends(all_.back(), cell)) {
      all_.push_back(cell);
      return;
    }
    Strip& last = all_.back();
    if (last.length == 1) last.step = cell.source - last.source;
    last.length += cell.length;
  }
  std::vector<Strip> all() && { return std::move(all_); }

 private:
  static bool extends(const Strip& last, const Strip& cell) {
    if (last.is_ghost != cell.is_ghost || last.is_constant != cell.is_constant || last.crosses != cell.crosses)
      return false;
    if (last.is_constant) return true;
    const Index step = cell.source - (last.source + (last.length - 1) * last.step);
    return last.length == 1 ? step >= -1 && step <= 1 : step == last.step;
  }
  std::vector<Strip> all_;
};

Strip ghost_at(const HaloEdge& edge, Index at, Index extent, Index shift) {
  const Origin origin = origin_of(edge, at, extent);
  const Index source = origin.is_constant ? 0 : (origin.cell + shift) % extent;
  return {.length = 1,
          .source = source,
          .step = 1,
          .is_ghost = true,
          .is_constant = origin.is_constant,
          .crosses = origin.crosses};
}

// [begin, begin + length), turned: in two parts where it passes the end.
std::vector<Strip> own_strips(Index begin, Index length, Index extent, Index shift) {
  const Index from = (begin + shift) % extent;
  const Index until_end = std::min(length, extent - from);
  std::vector<Strip> own{{.length = until_end, .source = from}};
  if (until_end < length) own.push_back({.length = length - until_end, .source = 0});
  return own;
}

}  // namespace

std::vector<Strip> strips_of(const Domain& domain, const Piece& piece, std::size_t dim, Index shift) {
  const Index begin = piece.begin[dim], length = piece.length[dim];
  if (length == 0) return {};
  const HaloDim* d = dim_of(domain.halo, dim);
  if (d == nullptr && shift == 0) return {{.length = length, .source = begin}};
  const Index extent = domain.shape[dim];
  Strips before, after;
  for (Index k = piece.before[dim]; k > 0; --k) before.add(ghost_at(d->edge, begin - k, extent, shift));
  for (Index k = 0; k < piece.after[dim]; ++k) after.add(ghost_at(d->edge, begin + length + k, extent, shift));
  std::vector<Strip> all = std::move(before).all();
  std::ranges::move(own_strips(begin, length, extent, shift), std::back_inserter(all));
  std::ranges::move(std::move(after).all(), std::back_inserter(all));
  Index first = 0;
  for (Strip& strip : all) {
    strip.first = first;
    first += strip.length;
  }
  return all;
}

}  // namespace reshard::halo
