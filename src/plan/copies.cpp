#include "plan/copies.h"

#include <algorithm>

namespace reshard {
namespace {

__extension__ using Wide = __int128;

// Receivers end to end by bytes, dealt to `copies` in equal stretches: who serves the one that begins at `before`.
Index stretch(Index before, Index total, Index copies) {
  return static_cast<Index>(static_cast<Wide>(before) * copies / total);
}

std::vector<Segments> wanted_of(const Layout& source, std::span<const Index> coordinate) {
  return source.region_at(coordinate).dims;
}

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

Shares::Shares(const Layout& layout, const std::vector<Segments>& wanted) : layout_(layout) {
  const LayoutSpec& spec = layout.spec();
  std::size_t logical = 0;
  for (int dim = 0; dim < static_cast<int>(spec.shape.size()); ++dim) {
    const GlobalIndex begin = layout.is_view() ? spec.view[dim].begin : GlobalIndex(0);
    Segments stored;
    if (layout.is_view() && spec.view[dim].dropped) {
      stored.push_back({LocalIndex(0), begin, 1});
    } else {
      stored = wanted[logical++];
      for (Segment& segment : stored) segment.global = begin + segment.global.value();
    }
    dims_.push_back(locate(layout, dim, stored));
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
  for (const std::vector<Share>& shares : dims_) {
    Index along = 0;
    for (const Share& share : shares) along += share.length;
    elements *= along;
  }
  return elements;
}

// Row-major: for each dimension, the shards that agree before it and come earlier along it, with anything after it.
Index Shares::elements_before(Index k) const {
  Index before = 0, after = 1;
  for (std::size_t dim = dims_.size(); dim-- > 0;) {
    const auto& shares = dims_[dim];
    const Index at = k % static_cast<Index>(shares.size());
    k /= static_cast<Index>(shares.size());
    Index earlier = 0, all = 0;
    for (std::size_t j = 0; j < shares.size(); ++j) {
      if (static_cast<Index>(j) < at) earlier += shares[j].length;
      all += shares[j].length;
    }
    before = before * shares[static_cast<std::size_t>(at)].length + earlier * after;
    after *= all;
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
  if (width_ == 1) return;
  if (options_.policy == SenderPolicy::modulo) {
    for (Index at = 0; at < width_; ++at) by_rank_.push_back(copy_rank(at));
    std::ranges::sort(by_rank_);
    return;
  }
  const bool by_host = options_.policy == SenderPolicy::local && options_.ranks_per_host > 0;
  if (by_host || meshes_overlap(source.mesh(), target.mesh())) assign_listed();
}

RankId Copies::copy_rank(Index at) const {
  Coordinate coordinate = coordinate_;
  set_axes(source_.mesh(), source_free_, at, coordinate);
  return source_.mesh().rank_at(coordinate);
}

RankId Copies::receiver(Index part, Index copy) const {
  Coordinate coordinate = parts_.coordinate(part);
  set_axes(target_.mesh(), target_free_, copy, coordinate);
  return target_.mesh().rank_at(coordinate);
}

// Receivers that hold the shard themselves need no sender; those with a copy on their host are served by it; the rest
// are dealt to all copies. Each of these groups is dealt by bytes.
void Copies::assign_listed() {
  struct Receiver {
    RankId rank;
    Index elements = 0;
  };
  const Index per_host = options_.policy == SenderPolicy::local ? options_.ranks_per_host : 0;
  const auto host_of = [&](RankId rank) { return per_host > 0 ? rank.value() / per_host : -1; };
  std::vector<RankId> copies;
  std::unordered_map<Index, std::vector<RankId>> copies_on;
  for (Index k = 0; k < width_; ++k) {
    const RankId rank = copy_rank((k + options_.rotation % width_) % width_);
    copies.push_back(rank);
    if (per_host > 0) copies_on[host_of(rank)].push_back(rank);
  }
  std::vector<Receiver> elsewhere;
  std::unordered_map<Index, std::vector<Receiver>> receivers_on;
  for (Index part = 0; part < parts_.count(); ++part)
    for (Index copy = 0; copy < target_width_; ++copy) {
      const RankId rank = receiver(part, copy);
      if (std::ranges::find(copies, rank) != copies.end()) continue;
      const Receiver entry{rank, parts_.elements(part)};
      if (per_host > 0 && copies_on.contains(host_of(rank))) {
        receivers_on[host_of(rank)].push_back(entry);
      } else {
        elsewhere.push_back(entry);
      }
    }
  const auto deal = [&](const std::vector<Receiver>& receivers, const std::vector<RankId>& among) {
    Index total = 0, before = 0;
    for (const Receiver& entry : receivers) total += entry.elements;
    for (const Receiver& entry : receivers) {
      assigned_[entry.rank] = among[static_cast<std::size_t>(stretch(before, total, std::ssize(among)))];
      before += entry.elements;
    }
  };
  deal(elsewhere, copies);
  for (const auto& [host, receivers] : receivers_on) deal(receivers, copies_on.at(host));
  listed_ = true;
}

RankId Copies::sender(RankId receiver, Index part, Index copy) const {
  if (width_ == 1) return copy_rank(0);
  if (options_.policy == SenderPolicy::modulo) {
    const auto at = target_.mesh().coordinate_of(receiver);
    Index ordinal = 0;
    for (std::size_t axis = 0; axis < at->size(); ++axis)
      ordinal = ordinal * target_.mesh().axes()[axis].size + (*at)[axis];
    return by_rank_[static_cast<std::size_t>((ordinal + options_.rotation % width_) % width_)];
  }
  if (listed_) return assigned_.at(receiver);
  const Index before = parts_.elements_before(part) * target_width_ + copy * parts_.elements(part);
  const Index total = parts_.elements() * target_width_;
  return copy_rank((stretch(before, total, width_) + options_.rotation % width_) % width_);
}

}  // namespace reshard
