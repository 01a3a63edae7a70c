#include "program/verify/overlap.h"

#include <algorithm>

namespace reshard {
namespace {

constexpr Index kMostRows = 65536;

void add_rows(const PlacedSlice& slice, std::size_t loop, Index at, std::vector<SliceBytes>& rows) {
  const bool last = loop == slice.loops.size();
  const bool dense = loop + 1 == slice.loops.size() && slice.loops[loop].stride == bytes_of(slice.dtype);
  if (last || dense) {
    const Index to = at + bytes_of(slice.dtype) * (dense ? slice.loops[loop].count : 1);
    if (!rows.empty() && rows.back().to == at)
      rows.back().to = to;
    else
      rows.push_back({at, to});
    return;
  }
  for (Index i = 0; i < slice.loops[loop].count; ++i)
    add_rows(slice, loop + 1, at + i * slice.loops[loop].stride, rows);
}

Index rows_in(const PlacedSlice& slice) {
  Index rows = 1;
  for (const SliceLoop& loop : slice.loops)
    if (loop.stride != bytes_of(slice.dtype)) rows *= std::min(loop.count, kMostRows + 1);
  return rows;
}

}  // namespace

std::vector<SliceBytes> bytes_of_slice(const PlacedSlice& slice) {
  std::vector<SliceBytes> rows;
  if (!slice.empty && rows_in(slice) <= kMostRows) add_rows(slice, 0, slice.offset, rows);
  return rows;
}

bool overlaps(const PlacedSlice& a, const PlacedSlice& b) {
  if (a.rank != b.rank || a.window != b.window) return false;
  const auto left = bytes_of_slice(a), right = bytes_of_slice(b);
  for (auto l = left.begin(), r = right.begin(); l != left.end() && r != right.end();) {
    if (l->from < r->to && r->from < l->to) return true;
    l->to <= r->from ? ++l : ++r;
  }
  return false;
}

bool same_bytes(const PlacedSlice& a, const PlacedSlice& b) {
  const auto same = [](const SliceLoop& x, const SliceLoop& y) { return x.count == y.count && x.stride == y.stride; };
  return a.rank == b.rank && a.window == b.window && a.offset == b.offset && a.dtype == b.dtype &&
         std::ranges::equal(a.loops, b.loops, same);
}

}  // namespace reshard
