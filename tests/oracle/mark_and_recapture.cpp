#include "oracle/mark_and_recapture.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace reshard::oracle {
namespace {

Index least_common_multiple(Index a, Index b) {
  Index multiple = a;
  while (multiple % b != 0) multiple += a;
  return multiple;
}

Layout without_partial(const Layout& layout) {
  LayoutSpec spec = layout.spec();
  for (AxisKind& kind : spec.kinds)
    if (kind.kind == AxisKind::Kind::partial) kind = {};
  return Layout(spec);
}

std::vector<Index> extents_of(const Part& part) {
  std::vector<Index> extents;
  for (const Line& line : part.logical) extents.push_back(static_cast<Index>(line.size()));
  return extents;
}

// Linear index in the whole of what lies at `local` of a part.
Index cell_at(const Part& part, const std::vector<Index>& local, const std::vector<Index>& whole) {
  std::vector<Index> global;
  for (std::size_t d = 0; d < local.size(); ++d) global.push_back(part.logical[d][static_cast<std::size_t>(local[d])]);
  return linear_index(global, whole);
}

// Per cell of the middle tensor, the marks that the gathered source carries, ascending.
std::vector<std::vector<Index>> gathered_marks(const Ownership& source, Index base, MarkStore store) {
  std::vector<std::vector<Index>> marks(static_cast<std::size_t>(product(source.shape)));
  for (const auto& [rank, part] : source.parts) {
    if (!part.held) continue;
    each_index(extents_of(part), [&, r = rank, &p = part](const std::vector<Index>& local) {
      marks[static_cast<std::size_t>(cell_at(p, local, source.shape))].push_back(
          stored_in(store, mark_of(r, local, base)));
    });
  }
  for (auto& cell : marks) std::ranges::sort(cell);
  return marks;
}

// Grows `group` by every rank that differs from a member in one partial axis, until nothing is added.
std::set<Index> linked_ranks(const Layout& source, Index rank) {
  std::set<Index> group = {rank};
  for (std::size_t before = 0; before != group.size();) {
    before = group.size();
    for (const Index member : std::set<Index>(group)) {
      const Coordinate at = *source.mesh().coordinate_of(RankId(member));
      for (std::size_t axis = 0; axis < at.size(); ++axis) {
        if (source.spec().kinds[axis].kind != AxisKind::Kind::partial) continue;
        Coordinate other = at;
        for (other[axis] = 0; other[axis] < source.mesh().axes()[axis].size; ++other[axis])
          group.insert(source.mesh().rank_at(other).value());
      }
    }
  }
  return group;
}

}  // namespace

std::vector<Index> shard_counts(const Layout& layout) {
  std::vector<Index> counts;
  for (const std::vector<Cut>& cuts : layout.spec().cuts) {
    counts.push_back(1);
    for (const Cut& cut : cuts)
      for (const int axis : cut.axes) counts.back() *= layout.mesh().axes()[static_cast<std::size_t>(axis)].size;
  }
  return counts;
}

Index mark_of(Index rank, const std::vector<Index>& index, Index base) {
  Index mark = rank;
  for (const Index c : index)
    if (__builtin_mul_overflow(mark, base, &mark) || __builtin_add_overflow(mark, c, &mark))
      throw std::overflow_error("a mark does not fit in 64 bits");
  return mark;
}

Recaptured read_mark(Index mark, std::size_t dims, Index base) {
  Recaptured read{0, std::vector<Index>(dims)};
  for (std::size_t d = dims; d-- > 0;) {
    read.index[d] = mark % base;
    mark /= base;
  }
  read.rank = mark;
  return read;
}

Index stored_in(MarkStore store, Index mark) {
  return store == MarkStore::exact ? mark : static_cast<Index>(static_cast<float>(mark));
}

MarkedMap mark_and_recapture(const Layout& source, const Layout& target, MarkStore store) {
  MarkedMap map;
  const std::vector<Index> from = shard_counts(source), to = shard_counts(target);
  for (std::size_t d = 0; d < from.size(); ++d) {
    map.middle.push_back(least_common_multiple(from[d], to[d]));
    map.source_num_slicers.push_back(map.middle[d] / from[d]);
    map.target_num_slicers.push_back(map.middle[d] / to[d]);
  }
  const Index base = map.middle.empty() ? 1 : *std::ranges::max_element(map.middle) + 1;
  const auto marks = gathered_marks(ownership_of(without_partial(source).with_shape(map.middle)), base, store);
  const Ownership recut = ownership_of(target.with_shape(map.middle));
  for (Index place = 0; place < target.mesh().size(); ++place) {
    const Index rank = target.mesh().rank_at_ordinal(place).value();
    const Part& part = recut.parts.at(rank);
    if (!part.held) continue;
    each_index(extents_of(part), [&](const std::vector<Index>& local) {
      const auto& found = marks[static_cast<std::size_t>(cell_at(part, local, map.middle))];
      const Recaptured origin =
          read_mark(found.at(static_cast<std::size_t>(place) % found.size()), map.middle.size(), base);
      map.routes[origin.rank][origin.index].push_back({rank, local});
    });
  }
  if (!source.has_partial()) return map;
  for (const auto& [rank, cells] : std::map(map.routes))
    for (const Index member : linked_ranks(source, rank))
      for (const auto& [index, targets] : cells) map.routes[member][index];
  return map;
}

}  // namespace reshard::oracle
