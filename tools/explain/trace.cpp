#include "explain/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace reshard::cli {
namespace {

constexpr Index kGreatestTrace = Index{1} << 16;  // cells, copies counted

Layout without_partial(const Layout& layout) {
  LayoutSpec spec = layout.spec();
  for (AxisKind& kind : spec.kinds)
    if (kind.kind == AxisKind::Kind::partial) kind = {};
  return Layout(std::move(spec));
}

// rank, then coordinate after coordinate, as digits in `base`.
Index tag_of(RankId rank, const CellIndex& index, Index base) {
  Index tag = rank.value();
  for (const Index digit : index)
    if (__builtin_mul_overflow(tag, base, &tag) || __builtin_add_overflow(tag, digit, &tag))
      throw Error(
          Code::unsupported,
          fmt::format("the tag of rank {} in base {} with {} coordinates does not fit in 64 bits; --m2m finds the "
                      "map without tags",
                      rank.value(), base, index.size()));
  return tag;
}

void read(Reading& reading, Index base) {
  Index rest = reading.tag;
  for (std::size_t dim = reading.source_index.size(); dim-- > 0; rest /= base) reading.source_index[dim] = rest % base;
  reading.source = RankId(rest);
}

Index cells_of(const std::vector<Index>& extents) {
  Index cells = 1;
  for (const Index extent : extents) cells *= extent;
  return cells;
}

// Where a cell of a shard lies in the whole. Shards are single runs, and the middle divides the extents.
CellIndex middle_of(const M2MMap& map, const Region& region, const CellIndex& index) {
  CellIndex middle = index;
  for (std::size_t dim = 0; dim < index.size(); ++dim)
    middle[dim] += region.dims[dim].front().global.value() / (map.source().shape()[dim] / map.middle()[dim]);
  return middle;
}

std::vector<Mark> marks_of(const M2MMap& map, Index base) {
  std::vector<Mark> marks;
  const Mesh& mesh = map.source().mesh();
  for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal) {
    const RankId rank = mesh.rank_at_ordinal(ordinal);
    const Region region = map.source().region(rank);
    for (Index cell = 0; region.held && cell < cells_of(map.source_num_slicers()); ++cell) {
      const CellIndex index = map.source_index(cell);
      marks.push_back({rank, index, middle_of(map, region, index), tag_of(rank, index, base)});
    }
  }
  std::ranges::stable_sort(marks, {}, &Mark::rank);
  return marks;
}

// Where several ranks tagged a cell, the target at place t of its mesh reads the (t mod copies)-th.
std::vector<Reading> readings_of(const M2MMap& map, const std::vector<Mark>& marks, Index base) {
  std::map<CellIndex, std::vector<Index>> whole;
  for (const Mark& mark : marks) whole[mark.middle].push_back(mark.tag);
  std::vector<Reading> readings;
  const Mesh& mesh = map.target().mesh();
  for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal) {
    const RankId rank = mesh.rank_at_ordinal(ordinal);
    const Region region = map.target().region(rank);
    for (Index cell = 0; region.held && cell < cells_of(map.target_num_slicers()); ++cell) {
      Reading reading{rank, map.target_index(cell), 0, RankId(0), CellIndex(map.middle().size())};
      const std::vector<Index>& tags = whole.at(middle_of(map, region, reading.index));
      reading.tag = tags[static_cast<std::size_t>(ordinal % std::ssize(tags))];
      read(reading, base);
      readings.push_back(std::move(reading));
    }
  }
  return readings;
}

bool agree(const M2MMap& map, const std::vector<Reading>& readings) {
  std::map<RankId, std::map<CellIndex, std::vector<CellAt>>> read;
  for (const Reading& reading : readings)
    read[reading.source][reading.source_index].push_back({reading.target, reading.index});
  auto closed = map.dict();
  for (auto rank = closed.begin(); rank != closed.end();) {
    std::erase_if(rank->second, [](const auto& route) { return route.second.empty(); });
    rank = rank->second.empty() ? closed.erase(rank) : std::next(rank);
  }
  return read == closed;
}

}  // namespace

Trace traced(const Layout& source, const Layout& target) {
  M2MMap map = m2m_map(source, target);
  const Index cells = std::max(cells_of(map.source_num_slicers()) * source.mesh().size(),
                               cells_of(map.target_num_slicers()) * target.mesh().size());
  if (cells > kGreatestTrace)
    throw Error(Code::unsupported, fmt::format("{} tagged cells are too many to trace, at most {}; --m2m finds the map "
                                               "without tags",
                                               cells, kGreatestTrace));
  const Index base = (map.middle().empty() ? 0 : *std::ranges::max_element(map.middle())) + 1;
  tag_of(RankId(1), CellIndex(map.middle().size()), base);  // the powers of the base fit, too
  std::vector<Mark> marks = marks_of(map, base);
  std::vector<Reading> readings = readings_of(map, marks, base);
  if (!agree(map, readings)) throw Error(Code::internal, "the tags and the closed form give different maps");
  Explained pictured = explained(without_partial(source), target.with_dtype(source.dtype()), {});
  return {std::move(map), std::move(pictured), base, std::move(marks), std::move(readings)};
}

}  // namespace reshard::cli
