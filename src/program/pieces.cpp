#include "program/pieces.h"

#include <algorithm>

namespace reshard {
namespace {

Index length_of(const std::vector<Span>& spans) {
  Index length = 0;
  for (const Span& span : spans) length += span.length;
  return length;
}

// Elements [begin, begin + length) of the spans laid end to end.
std::vector<Span> slice(const std::vector<Span>& spans, Index begin, Index length) {
  std::vector<Span> out;
  for (const Span& span : spans) {
    const Index skipped = std::clamp<Index>(begin, 0, span.length);
    const Index taken = std::min(span.length - skipped, length);
    if (taken > 0) out.push_back({span.source + skipped, span.target + skipped, taken});
    begin -= span.length;
    length -= taken;
    if (length == 0) break;
  }
  return out;
}

}  // namespace

std::vector<Transfer> pieces_of(const Transfer& transfer, const std::vector<int>& order, Index greatest) {
  if (transfer.elements() <= greatest) return {transfer};
  const std::size_t dims = order.size();
  std::vector<Index> lengths(dims), steps(dims, 1);
  for (std::size_t dim = 0; dim < dims; ++dim) lengths[dim] = length_of(transfer.dims[dim]);
  Index room = greatest;
  for (std::size_t k = dims; k-- > 0;) {
    const auto dim = static_cast<std::size_t>(order[k]);
    steps[dim] = std::clamp<Index>(room, 1, lengths[dim]);
    room = steps[dim] < lengths[dim] ? 1 : room / lengths[dim];
  }
  std::vector<Transfer> pieces;
  std::vector<Index> begin(dims, 0);
  for (;;) {
    Transfer piece{transfer.source, transfer.target, {}};
    for (std::size_t dim = 0; dim < dims; ++dim)
      piece.dims.push_back(slice(transfer.dims[dim], begin[dim], std::min(steps[dim], lengths[dim] - begin[dim])));
    pieces.push_back(std::move(piece));
    std::size_t k = dims;
    for (; k > 0; --k) {
      const auto dim = static_cast<std::size_t>(order[k - 1]);
      if ((begin[dim] += steps[dim]) < lengths[dim]) break;
      begin[dim] = 0;
    }
    if (k == 0) return pieces;
  }
}

}  // namespace reshard
