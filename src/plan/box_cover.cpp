#include "plan/box_cover.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace reshard {
namespace {

constexpr std::size_t kRanksNamed = 8;

std::vector<Box> different_boxes(const BoxList& list, std::vector<std::vector<Holder>>& holders) {
  std::map<std::pair<std::vector<GlobalIndex>, std::vector<Index>>, std::vector<Holder>> known;
  for (std::size_t k = 0; k < list.boxes().size(); ++k) {
    const auto& [rank, box] = list.boxes()[k];
    if (box.elements() > 0) known[{box.offsets, box.sizes}].push_back({rank, static_cast<Index>(k)});
  }
  std::vector<Box> boxes;
  for (auto& [place, held_by] : known) {
    std::ranges::stable_sort(held_by, {}, &Holder::rank);
    held_by.erase(std::unique(held_by.begin(), held_by.end(), [](Holder a, Holder b) { return a.rank == b.rank; }),
                  held_by.end());
    boxes.push_back({place.first, place.second});
    holders.push_back(std::move(held_by));
  }
  return boxes;
}

std::string ranks_text(const std::vector<RankId>& ranks) {
  std::vector<Index> shown;
  for (std::size_t k = 0; k < std::min(ranks.size(), kRanksNamed); ++k) shown.push_back(ranks[k].value());
  const std::string more =
      ranks.size() > kRanksNamed ? fmt::format(" and {} more", ranks.size() - kRanksNamed) : std::string();
  return fmt::format("rank{} {}{}", ranks.size() == 1 ? "" : "s", fmt::join(shown, ", "), more);
}

// One element more on every side.
Box grown(Box box) {
  for (std::size_t dim = 0; dim < box.offsets.size(); ++dim) {
    const bool last = (box.offsets[dim] + box.sizes[dim]).value() == INT64_MAX;
    box.offsets[dim] += -1;
    box.sizes[dim] += last ? 1 : 2;
  }
  return box;
}

}  // namespace

BoxCover::BoxCover(const BoxList& list) : index_(different_boxes(list, holders_)) {}

std::vector<RankId> BoxCover::ranks_of(const std::vector<Index>& boxes) const {
  std::vector<RankId> ranks;
  for (const Index k : boxes)
    for (const Holder& holder : holders_[k]) ranks.push_back(holder.rank);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::vector<BoxFault> BoxCover::overlaps(std::size_t most, Index& comparisons) const {
  std::vector<BoxFault> faults;
  for (Index k = 0; k < index_.size() && faults.size() < most; ++k)
    for (const Index other : index_.overlapping(index_.box(k), comparisons)) {
      if (other <= k || faults.size() == most) continue;
      const Box both = *common(index_.box(k), index_.box(other));
      faults.push_back(
          {BoxFault::Kind::overlap, both, ranks_of({k, other}),
           fmt::format("{} is in two boxes that are not equal: {} of {} and {} of {}; cut them so that they "
                       "are equal or apart",
                       both.text(), index_.box(k).text(), ranks_text(ranks_of({k})), index_.box(other).text(),
                       ranks_text(ranks_of({other})))});
    }
  return faults;
}

std::vector<BoxFault> BoxCover::holes(const Box& wanted, std::size_t most) const {
  std::vector<BoxFault> faults;
  Index comparisons = 0;
  std::vector<Box> open;
  if (wanted.elements() > 0) open.push_back(wanted);
  while (!open.empty() && faults.size() < most) {
    const Box piece = std::move(open.back());
    open.pop_back();
    const std::vector<Index> found = index_.overlapping(piece, comparisons);
    if (!found.empty()) {
      for (Box& rest : without(piece, index_.box(found.front()))) open.push_back(std::move(rest));
      continue;
    }
    const std::vector<RankId> beside = ranks_of(index_.overlapping(grown(piece), comparisons));
    faults.push_back({BoxFault::Kind::hole, piece, beside,
                      fmt::format("{} is in no box{}", piece.text(),
                                  beside.empty() ? "" : "; beside it are boxes of " + ranks_text(beside))});
  }
  return faults;
}

}  // namespace reshard
