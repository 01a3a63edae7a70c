#include "plan/copies.h"

#include <algorithm>
#include <set>

#include "base/fail.h"
#include "plan/least_load.h"

namespace reshard {
namespace {

constexpr Index kGreatestList = Index{1} << 26;  // copies or receivers that are listed one by one

// Receivers end to end by bytes, dealt to `copies` in equal stretches: who serves the one that begins at `before`.
Index stretch(Wide before, Wide total, Index copies) {
  while (total >> 63 > 0) before >>= 1, total >>= 1;  // so that the product fits, on every rank in the same way
  return std::min(static_cast<Index>(before * copies / total), copies - 1);
}

std::vector<Segments> wanted_of(const Layout& source, std::span<const Index> coordinate) {
  return source.region_at(coordinate).dims;
}

// Places that ranks share, as far as they are known, the nearest first.
std::vector<Index> ranks_per_place(const PlanOptions& options) {
  std::vector<Index> ranks;
  for (const Index each : {options.ranks_per_host, options.ranks_per_rack})
    if (each > 0) ranks.push_back(each);
  return ranks;
}

// The places that have a copy, as pools: a receiver may be served by any copy in the nearest of its places that has
// one.
class PlacePools {
 public:
  explicit PlacePools(std::vector<Index> ranks) : ranks_(std::move(ranks)), pool_at_(ranks_.size()) {}
  // The innermost pool of a copy.
  Index add(RankId copy) {
    Index pool = 0;
    for (std::size_t tier = ranks_.size(); tier-- > 0;) {
      const auto [known, is_new] = pool_at_[tier].try_emplace(copy.value() / ranks_[tier], std::ssize(pools_));
      if (is_new) pools_.push_back({pool});
      pool = known->second;
    }
    return pool;
  }
  Index nearest(RankId receiver) const {
    for (std::size_t tier = 0; tier < ranks_.size(); ++tier)
      if (const auto known = pool_at_[tier].find(receiver.value() / ranks_[tier]); known != pool_at_[tier].end())
        return known->second;
    return 0;
  }
  const std::vector<Pool>& list() const { return pools_; }

 private:
  std::vector<Index> ranks_;  // that share a place, per tier, the nearest first
  std::vector<std::unordered_map<Index, Index>> pool_at_;
  std::vector<Pool> pools_{{}};
};

bool meshes_overlap(const Mesh& a, const Mesh& b) {
  return a.first_rank() < b.end_rank() && b.first_rank() < a.end_rank();
}

}  // namespace

std::vector<int> free_axes(const Layout& layout) {
  std::vector<int> axes;
  const auto& kinds = layout.spec().kinds;
  for (int axis = 0; axis < static_cast<int>(kinds.size()); ++axis)
    if (kinds[axis].kind == AxisKind::Kind::replicate) axes.push_back(axis);
  return axes;
}

Index width_of(const Mesh& mesh, std::span<const int> axes) {
  Index width = 1;
  for (const int axis : axes) width *= mesh.axes()[axis].size;
  return width;
}

void set_axes(const Mesh& mesh, std::span<const int> axes, Index at, std::span<Index> coordinate) {
  for (std::size_t k = axes.size(); k-- > 0;) {
    coordinate[axes[k]] = at % mesh.axes()[axes[k]].size;
    at /= mesh.axes()[axes[k]].size;
  }
}

namespace {

// What is wanted of a view, in indices of the stored dimension. `logical` is the first dimension of the view not yet
// seen.
Segments stored_segments(const Layout& layout, int dim, const std::vector<Segments>& wanted, std::size_t& logical) {
  const Slice& slice = layout.spec().view[dim];
  if (slice.dropped) return {{LocalIndex(0), slice.begin, 1}};
  Segments stored = wanted[logical++];
  for (Segment& segment : stored) segment.global = slice.begin + segment.global.value();
  return stored;
}

}  // namespace

Shares::Shares(const Layout& layout, const std::vector<Segments>& wanted) : layout_(layout) {
  const std::size_t dims = layout.spec().shape.size();
  dims_.reserve(dims);
  ends_.reserve(dims);
  std::size_t logical = 0;
  for (int dim = 0; dim < static_cast<int>(dims); ++dim) {
    dims_.push_back(layout.is_view() ? locate(layout, dim, stored_segments(layout, dim, wanted, logical))
                                     : locate(layout, dim, wanted[dim]));
    std::vector<Index>& ends = ends_.emplace_back();
    ends.reserve(dims_.back().size());
    Index end = 0;
    for (const Share& share : dims_.back()) ends.push_back(end += share.length);
    count_ *= static_cast<Index>(dims_.back().size());
  }
}

Coordinate Shares::coordinate(Index k) const {
  const LayoutSpec& spec = layout_.spec();
  Coordinate coordinate(spec.mesh.axes().size(), 0);
  for (std::size_t axis = 0; axis < coordinate.size(); ++axis) coordinate[axis] = spec.kinds[axis].at;
  for (std::size_t dim = dims_.size(); dim-- > 0;) {
    const Index shares = static_cast<Index>(dims_[dim].size());
    const Share& share = dims_[dim][static_cast<std::size_t>(k % shares)];
    k /= shares;
    for (std::size_t level = 0; level < share.at.size(); ++level)
      set_cut_coordinate(spec.mesh, spec.cuts[dim][level], share.at[level], coordinate);
  }
  return coordinate;
}

std::vector<const Share*> Shares::along(Index k) const {
  std::vector<const Share*> shares(layout_.stored_dims().size());
  std::size_t kept = shares.size();
  for (std::size_t dim = dims_.size(); dim-- > 0;) {
    const Index count = static_cast<Index>(dims_[dim].size());
    if (kept > 0 && layout_.stored_dims()[kept - 1] == static_cast<int>(dim))
      shares[--kept] = &dims_[dim][static_cast<std::size_t>(k % count)];
    k /= count;
  }
  return shares;
}

Index Shares::elements(Index k) const {
  Index elements = 1;
  for (std::size_t dim = dims_.size(); dim-- > 0;) {
    const Index count = static_cast<Index>(dims_[dim].size());
    elements *= dims_[dim][static_cast<std::size_t>(k % count)].length;
    k /= count;
  }
  return elements;
}

Index Shares::elements() const {
  Index elements = 1;
  for (const std::vector<Index>& ends : ends_) elements *= ends.empty() ? 0 : ends.back();
  return elements;
}

// Row-major: for each dimension, the shards that agree before it and come earlier along it, with anything after it.
Index Shares::elements_before(Index k) const {
  Index before = 0, after = 1;
  for (std::size_t dim = dims_.size(); dim-- > 0;) {
    const Index count = static_cast<Index>(dims_[dim].size());
    const Share& share = dims_[dim][static_cast<std::size_t>(k % count)];
    const Index end = ends_[dim][static_cast<std::size_t>(k % count)];
    k /= count;
    before = before * share.length + (end - share.length) * after;
    after *= ends_[dim].back();
  }
  return before;
}

Index Shares::find(std::span<const Index> coordinate) const {
  const LayoutSpec& spec = layout_.spec();
  for (std::size_t axis = 0; axis < spec.kinds.size(); ++axis)
    if (spec.kinds[axis].kind == AxisKind::Kind::at && spec.kinds[axis].at != coordinate[axis]) return -1;
  Index k = 0;
  std::vector<Index> at;
  for (std::size_t dim = 0; dim < dims_.size(); ++dim) {
    at.clear();
    for (const Cut& cut : spec.cuts[dim]) at.push_back(cut_coordinate(spec.mesh, cut, coordinate));
    const auto found = std::ranges::lower_bound(dims_[dim], at, {}, &Share::at);
    if (found == dims_[dim].end() || found->at != at) return -1;
    k = k * static_cast<Index>(dims_[dim].size()) + (found - dims_[dim].begin());
  }
  return k;
}

Copies::Copies(const Layout& source, const Layout& target, const PlanOptions& options, Coordinate coordinate)
    : source_(source),
      target_(target),
      options_(options),
      coordinate_(std::move(coordinate)),
      source_free_(free_axes(source)),
      target_free_(free_axes(target)),
      width_(width_of(source.mesh(), source_free_)),
      target_width_(width_of(target.mesh(), target_free_)),
      parts_(target, wanted_of(source, coordinate_)) {
  const std::vector<Index> places = ranks_per_place(options_);
  if (width_ == 1) return;
  switch (options_.policy) {
    case SenderPolicy::local:
      for (const Index ranks : places) tiers_.push_back({ranks, {}});
      set_apart();
      break;
    case SenderPolicy::balanced: set_apart(); break;
    case SenderPolicy::optimal: deal_whole(); break;
    case SenderPolicy::modulo:
      check_listed();
      for (Index at = 0; at < width_; ++at) by_rank_.push_back(copy_rank(at));
      std::ranges::sort(by_rank_);
      break;
    case SenderPolicy::megatron: megatron_.emplace(source_); break;
  }
}

void Copies::check_listed() const {
  if (width_ > kGreatestList)
    fail(Code::unsupported, "{}: {} equal copies of one shard are more than {}", source_.text(), width_, kGreatestList);
}

void Copies::Receivers::sort() {
  std::ranges::sort(list, {}, &Receiver::before);
  ends.reserve(list.size());
  Wide end = 0;
  for (const Receiver& receiver : list) ends.push_back(end += receiver.elements);
}

Wide Copies::Receivers::elements_before(Wide place) const {
  const auto at = std::ranges::lower_bound(list, place, {}, &Receiver::before) - list.begin();
  return at == 0 ? 0 : ends[static_cast<std::size_t>(at - 1)];
}

RankId Copies::copy_rank(Index at) const {
  Coordinate coordinate = coordinate_;
  set_axes(source_.mesh(), source_free_, at, coordinate);
  return source_.mesh().rank_at(coordinate);
}

Index Copies::turned(Index at) const { return (at + options_.rotation % width_) % width_; }

Wide Copies::before(Index part, Index copy) const {
  return static_cast<Wide>(parts_.elements_before(part)) * target_width_ +
         static_cast<Wide>(copy) * parts_.elements(part);
}

RankId Copies::receiver(Index part, Index copy) const {
  Coordinate coordinate = parts_.coordinate(part);
  set_axes(target_.mesh(), target_free_, copy, coordinate);
  return target_.mesh().rank_at(coordinate);
}

bool Copies::is_copy(RankId rank) const {
  const auto coordinate = source_.mesh().coordinate_of(rank);
  if (!coordinate) return false;
  for (std::size_t axis = 0; axis < coordinate->size(); ++axis)
    if ((*coordinate)[axis] != coordinate_[axis] &&
        std::ranges::find(source_free_, static_cast<int>(axis)) == source_free_.end())
      return false;
  return true;
}

std::optional<Copies::Receiver> Copies::receiver_at(RankId rank) const {
  const auto coordinate = target_.mesh().coordinate_of(rank);
  if (!coordinate) return std::nullopt;
  const Index part = parts_.find(*coordinate);
  if (part < 0) return std::nullopt;
  Index copy = 0;
  for (const int axis : target_free_) copy = copy * target_.mesh().axes()[axis].size + (*coordinate)[axis];
  return Receiver{before(part, copy), parts_.elements(part)};
}

// Receivers that hold the shard themselves need no sender; those with a copy on their host, or else in their rack, are
// served there; the rest are dealt to all copies. Each of these groups is dealt by bytes. Listed are the receivers that
// are not of the rest.
void Copies::set_apart() {
  if (tiers_.empty() && !meshes_overlap(source_.mesh(), target_.mesh())) return;
  check_listed();
  for (Tier& tier : tiers_)
    for (Index k = 0; k < width_; ++k) {
      const RankId rank = copy_rank(turned(k));
      tier.groups[tier.place_of(rank)].copies.push_back(rank);
    }
  // The shorter way to find them: from all receivers, or from the ranks that may be set apart.
  const Wide receivers = static_cast<Wide>(parts_.count()) * target_width_;
  const Wide near = tiers_.empty() ? width_ : static_cast<Wide>(std::ssize(tiers_.back().groups)) * tiers_.back().ranks;
  if (receivers <= near) {
    for (Index part = 0; part < parts_.count(); ++part)
      for (Index copy = 0; copy < target_width_; ++copy)
        set_apart_if_served(receiver(part, copy), {before(part, copy), parts_.elements(part)});
  } else if (!tiers_.empty()) {
    set_apart_near(tiers_.back());
  } else {
    for (Index k = 0; k < width_; ++k)
      if (const auto receiver = receiver_at(copy_rank(k))) apart_.add(*receiver);
  }
  apart_.sort();
  for (Tier& tier : tiers_)
    for (auto& [unused, group] : tier.groups) group.receivers.sort();
}

void Copies::set_apart_near(const Tier& widest) {
  for (const auto& [place, unused] : widest.groups)
    for (Index k = 0; k < widest.ranks; ++k) {
      const RankId rank(place * widest.ranks + k);
      if (const auto receiver = receiver_at(rank)) set_apart_if_served(rank, *receiver);
    }
}

void Copies::set_apart_if_served(RankId rank, const Receiver& receiver) {
  if (is_copy(rank)) return apart_.add(receiver);
  for (Tier& tier : tiers_)
    if (const auto group = tier.groups.find(tier.place_of(rank)); group != tier.groups.end()) {
      apart_.add(receiver);
      return group->second.receivers.add(receiver);
    }
}

void Copies::deal_whole() {
  check_listed();
  const Wide receivers = static_cast<Wide>(parts_.count()) * target_width_;
  if (receivers > kGreatestList)
    fail(Code::unsupported, "{}: {} target shards with {} ranks each receive from one shard, more than {} in all",
         source_.text(), parts_.count(), target_width_, kGreatestList);
  PlacePools pools(ranks_per_place(options_));
  std::vector<Index> pool_of_copy;
  for (Index k = 0; k < width_; ++k) pool_of_copy.push_back(pools.add(copy_rank(turned(k))));
  std::vector<DealtPart> remote;
  std::vector<std::size_t> place_in_dealt;
  std::set<Index> sizes;
  dealt_.resize(static_cast<std::size_t>(receivers));
  for (std::size_t at = 0; at < dealt_.size(); ++at) {
    const Index part = static_cast<Index>(at) / target_width_;
    const RankId rank = receiver(part, static_cast<Index>(at) % target_width_);
    dealt_[at] = rank;
    if (is_copy(rank)) continue;
    remote.push_back({pools.nearest(rank), parts_.elements(part)});
    place_in_dealt.push_back(at);
    sizes.insert(remote.back().elements);
  }
  if (remote.empty()) return;
  const auto deal = least_load(pools.list(), pool_of_copy, remote);
  if (!deal)
    fail(Code::unsupported,
         "{}  ->  {}: which of {} copies sends by policy \"optimal\" is unknown for {} receivers with parts of {} "
         "sizes: "
         "there are more than {} ways to take from them; policy \"balanced\" is within one receiver's part of it",
         source_.text(), target_.text(), width_, remote.size(), sizes.size(), kGreatestWays);
  for (std::size_t k = 0; k < remote.size(); ++k) dealt_[place_in_dealt[k]] = copy_rank(turned(deal->senders[k]));
}

RankId Copies::sender(RankId receiver, Index part, Index copy) const {
  if (width_ == 1) return copy_rank(0);
  switch (options_.policy) {
    case SenderPolicy::optimal: return dealt_[static_cast<std::size_t>(part * target_width_ + copy)];
    case SenderPolicy::modulo:
      return by_rank_[static_cast<std::size_t>(turned(*target_.mesh().ordinal_of(receiver) % width_))];
    case SenderPolicy::megatron: {
      const Coordinate candidate = megatron_->candidate(receiver);
      Coordinate coordinate = coordinate_;
      for (const int axis : source_free_) coordinate[axis] = candidate[axis];
      return source_.mesh().rank_at(coordinate);
    }
    case SenderPolicy::local:
    case SenderPolicy::balanced: break;
  }
  const Wide begin = before(part, copy);
  for (const Tier& tier : tiers_)
    if (const auto group = tier.groups.find(tier.place_of(receiver)); group != tier.groups.end()) {
      const auto& [copies, receivers] = group->second;
      const Index at = stretch(receivers.elements_before(begin), receivers.elements(), std::ssize(copies));
      return copies[static_cast<std::size_t>(at)];
    }
  const Wide total = static_cast<Wide>(parts_.elements()) * target_width_ - apart_.elements();
  return copy_rank(turned(stretch(begin - apart_.elements_before(begin), total, width_)));
}

}  // namespace reshard
