#include "plan/equal_blocks.h"

#include "base/checked.h"
#include "base/fail.h"
#include "layout/locate.h"

namespace reshard {
namespace {

std::string axes_of(const Layout& layout, int dim) {
  std::string names;
  for (const Cut& cut : layout.spec().cuts[dim])
    for (const int axis : cut.axes) names += (names.empty() ? "\"" : "\", \"") + layout.mesh().axes()[axis].name;
  return names.empty() ? "no axis" : "axis " + names + "\"";
}

template <class... Args>
[[noreturn]] void refuse(const Layout& layout, std::string_view side, int dim, fmt::format_string<Args...> reason,
                         Args&&... args) {
  fail(Code::unsupported,
       "m2m map: {} {}: dimension {}, cut by {}: {}; a map needs equal blocks of one run each, plan() moves the rest",
       side, layout.text(), dim, axes_of(layout, dim), fmt::format(reason, std::forward<Args>(args)...));
}

Index count_of(const Layout& layout, int dim) {
  Index count = 1;
  for (const Cut& cut : layout.spec().cuts[dim])
    count = checked_mul(count, cut_width(layout.mesh(), cut), "m2m map: shards along one dimension");
  return count;
}

// Pieces that a later cut does not part again stay apart in one shard: by accident they may be one run for this shape,
// but not for the next.
void check_pieces(const Layout& layout, std::string_view side, int dim) {
  Index later = 1;
  const std::vector<Cut>& cuts = layout.spec().cuts[dim];
  for (std::size_t level = cuts.size(); level-- > 0;) {
    const Index width = cut_width(layout.mesh(), cuts[level]);
    if (width > 1 && later % cuts[level].piece_count != 0)
      refuse(layout, side, dim, "its {} pieces are no divisor of the {} parts that later axes make",
             cuts[level].piece_count, later);
    later *= width;
  }
}

// Which of `count` equal blocks the rank holds.
Index block_along(const Layout& layout, std::string_view side, int dim, Index count, RankId rank,
                  const Segments& held) {
  const Index length = layout.shape()[dim] / count;
  if (held.size() != 1) refuse(layout, side, dim, "rank {} holds {} runs of it", rank.value(), held.size());
  const Index begin = held.front().global.value();
  if (held.front().length != length || begin % length != 0)
    refuse(layout, side, dim, "rank {} holds {} elements from {} on, not one of {} blocks of {}", rank.value(),
           held.front().length, begin, count, length);
  return begin / length;
}

}  // namespace

EqualBlocks equal_blocks(const Layout& layout, std::string_view side) {
  if (layout.is_view())
    fail(Code::unsupported, "m2m map: {} {} is a view of a larger tensor; plan() moves views", side, layout.text());
  EqualBlocks blocks;
  for (int dim = 0; dim < layout.dims(); ++dim) {
    const Index count = count_of(layout, dim), extent = layout.shape()[dim];
    if (extent == 0) refuse(layout, side, dim, "it has no elements that {} shards could be blocks of", count);
    if (extent % count != 0)
      refuse(layout, side, dim, "{} elements do not divide into {} shards (remainder {})", extent, count,
             extent % count);
    check_pieces(layout, side, dim);
    blocks.counts.push_back(count);
  }
  const Mesh& mesh = layout.mesh();
  for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal) {
    const Coordinate coordinate = mesh.coordinate_at(ordinal);
    const Region region = layout.region_at(coordinate);
    if (!region.held) continue;
    HeldBlock held{mesh.rank_at(coordinate), ordinal, 0};
    for (int dim = 0; dim < layout.dims(); ++dim)
      held.block = held.block * blocks.counts[dim] +
                   block_along(layout, side, dim, blocks.counts[dim], held.rank, region.dims[dim]);
    blocks.ranks.push_back(held);
  }
  return blocks;
}

}  // namespace reshard
