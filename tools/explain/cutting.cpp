#include "explain/cutting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "output/numbers.h"

namespace reshard::cli {
namespace {

constexpr Index kGreatestMesh = Index{1} << 18;

struct SegmentsLess {
  bool operator()(const Segments& a, const Segments& b) const {
    return std::ranges::lexicographical_compare(a, b, {}, key, key);
  }
  static std::pair<GlobalIndex, Index> key(const Segment& segment) { return {segment.global, segment.length}; }
};

bool holds(const Segments& segments, Index element) {
  const auto after = std::ranges::upper_bound(segments, GlobalIndex(element), {}, &Segment::global);
  return after != segments.begin() && GlobalIndex(element) < std::prev(after)->global + std::prev(after)->length;
}

}  // namespace

Cutting::Cutting(const Layout& layout) : layout_(layout) {
  const Mesh& mesh = layout_.mesh();
  if (mesh.size() > kGreatestMesh)
    throw Error(Code::unsupported,
                fmt::format("mesh {} has {} ranks, and explain looks at every one: at most {}; take a smaller mesh of "
                            "the same form",
                            mesh.text(), count_text(mesh.size()), count_text(kGreatestMesh)));
  const auto dims = static_cast<std::size_t>(layout_.dims());
  std::vector<std::map<Segments, int, SegmentsLess>> classes(dims);
  class_of_.resize(dims);
  for (Index place = 0; place < mesh.size(); ++place) {
    Coordinate coordinate = mesh.coordinate_at(place);
    const RankId rank = mesh.rank_at(coordinate);
    Region region = layout_.region_at(coordinate);
    by_rank_.emplace_back(rank, place);
    for (std::size_t dim = 0; dim < dims; ++dim)
      class_of_[dim].push_back(
          region.held ? classes[dim].try_emplace(region.dims[dim], static_cast<int>(classes[dim].size())).first->second
                      : -1);
    holdings_.push_back({rank, std::move(coordinate), std::move(region)});
  }
  std::ranges::sort(by_rank_);
  for (std::size_t dim = 0; dim < dims; ++dim) {
    std::vector<Index> bounds{0, layout_.shape()[dim]};
    classes_.emplace_back(classes[dim].size());
    for (const auto& [segments, number] : classes[dim]) {
      classes_[dim][static_cast<std::size_t>(number)] = segments;
      for (const Segment& segment : segments) {
        bounds.push_back(segment.global.value());
        bounds.push_back((segment.global + segment.length).value());
      }
    }
    std::ranges::sort(bounds);
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    bounds_.push_back(std::move(bounds));
  }
}

Index Cutting::place_of(RankId rank) const {
  const auto found = std::ranges::lower_bound(by_rank_, rank, {}, &std::pair<RankId, Index>::first);
  return found != by_rank_.end() && found->first == rank ? found->second : -1;
}

const Holding* Cutting::find(RankId rank) const {
  const Index place = place_of(rank);
  return place < 0 ? nullptr : &holdings_[static_cast<std::size_t>(place)];
}

RankId Cutting::first_copy(RankId rank) const {
  const Region& region = find(rank)->region;
  if (region.elements() == 0) return rank;
  std::vector<Index> corner;
  for (const Segments& segments : region.dims) corner.push_back(segments.front().global.value());
  return holders(corner).front();
}

Index Cutting::equal_parts(int dim) const {
  const std::vector<Index>& bounds = bounds_[static_cast<std::size_t>(dim)];
  for (std::size_t k = 2; k < bounds.size(); ++k)
    if (bounds[k] - bounds[k - 1] != bounds[1] - bounds[0]) return 0;
  return std::ssize(bounds) - 1;
}

std::vector<RankId> Cutting::holders(std::span<const Index> element) const {
  std::vector<std::vector<bool>> inside;
  for (std::size_t dim = 0; dim < element.size(); ++dim) {
    inside.emplace_back();
    for (const Segments& segments : classes_[dim]) inside.back().push_back(holds(segments, element[dim]));
  }
  std::vector<RankId> ranks;
  for (const auto& [rank, place] : by_rank_) {
    bool held = holdings_[static_cast<std::size_t>(place)].region.held;
    for (std::size_t dim = 0; held && dim < inside.size(); ++dim)
      held = inside[dim][static_cast<std::size_t>(class_of_[dim][static_cast<std::size_t>(place)])];
    if (held) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<RankId> Cutting::empty_ranks() const {
  std::vector<RankId> ranks;
  for (const auto& [rank, place] : by_rank_)
    if (holdings_[static_cast<std::size_t>(place)].region.elements() == 0) ranks.push_back(rank);
  return ranks;
}

std::string slice_text(std::span<const Segments> dims) {
  constexpr std::size_t kListed = 4;
  std::string text = "[";
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    const Segments& segments = dims[dim];
    if (dim > 0) text += ", ";
    if (segments.empty()) text += "none";
    for (std::size_t k = 0; k < segments.size(); ++k) {
      if (segments.size() > kListed && k == kListed - 1) {
        text += fmt::format("+…{} more", segments.size() - k);
        break;
      }
      const Index begin = segments[k].global.value();
      text += fmt::format("{}{}:{}", k > 0 ? "+" : "", begin, begin + segments[k].length);
    }
  }
  return text + "]";
}

std::string coordinate_text(const Mesh& mesh, const Coordinate& coordinate) {
  if (coordinate.empty()) return "-";
  std::string text;
  for (std::size_t axis = 0; axis < coordinate.size(); ++axis)
    text += fmt::format("{}{}={}", axis > 0 ? " " : "", mesh.axes()[axis].name, coordinate[axis]);
  return text;
}

}  // namespace reshard::cli
