#include "plan/copies.h"

#include <algorithm>

#include "base/fail.h"

namespace reshard {
namespace {

constexpr Index kGreatestList = Index{1} << 26;  // copies that are listed one by one

// Receivers end to end by bytes, dealt to `copies` in equal stretches: who serves the one that begins at `before`.
Index stretch(Wide before, Wide total, Index copies) {
  while (total >> 63 > 0) before >>= 1, total >>= 1;  // so that the product fits, on every rank in the same way
  return std::min(static_cast<Index>(before * copies / total), copies - 1);
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
    std::vector<Index>& ends = ends_.emplace_back();
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
  if (width_ == 1) return;
  if (options_.policy == SenderPolicy::optimal || options_.policy == SenderPolicy::megatron)
    fail(Code::unsupported, "senders by {} are not known to this version", name_of(options_.policy));
  const bool by_host = options_.policy == SenderPolicy::local && options_.ranks_per_host > 0;
  const bool modulo = options_.policy == SenderPolicy::modulo;
  if (width_ > kGreatestList && (by_host || modulo || meshes_overlap(source.mesh(), target.mesh())))
    fail(Code::unsupported, "{}: {} equal copies of one shard are more than {}", source.text(), width_, kGreatestList);
  if (modulo) {
    for (Index at = 0; at < width_; ++at) by_rank_.push_back(copy_rank(at));
    std::ranges::sort(by_rank_);
    return;
  }
  if (by_host || meshes_overlap(source.mesh(), target.mesh())) set_apart(by_host ? options_.ranks_per_host : 0);
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

// Receivers that hold the shard themselves need no sender; those with a copy on their host are served by it; the rest
// are dealt to all copies. Each of these groups is dealt by bytes. Listed are the receivers that are not of the rest.
void Copies::set_apart(Index ranks_per_host) {
  const auto host_of = [&](RankId rank) { return rank.value() / ranks_per_host; };
  if (ranks_per_host > 0)
    for (Index k = 0; k < width_; ++k) {
      const RankId rank = copy_rank(turned(k));
      hosts_[host_of(rank)].copies.push_back(rank);
    }
  const auto visit = [&](RankId rank, const Receiver& receiver) {
    const auto host = ranks_per_host > 0 ? hosts_.find(host_of(rank)) : hosts_.end();
    if (host == hosts_.end() && !is_copy(rank)) return;
    apart_.add(receiver);
    if (host != hosts_.end() && !is_copy(rank)) host->second.receivers.add(receiver);
  };
  const auto visit_rank = [&](RankId rank) {
    if (const auto receiver = receiver_at(rank)) visit(rank, *receiver);
  };
  // The shorter way to find them: from all receivers, or from the ranks that may be set apart.
  const Wide receivers = static_cast<Wide>(parts_.count()) * target_width_;
  const Wide near =
      static_cast<Wide>(ranks_per_host > 0 ? std::ssize(hosts_) : width_) * std::max<Index>(ranks_per_host, 1);
  if (receivers <= near) {
    for (Index part = 0; part < parts_.count(); ++part)
      for (Index copy = 0; copy < target_width_; ++copy)
        visit(receiver(part, copy), {before(part, copy), parts_.elements(part)});
  } else if (ranks_per_host > 0) {
    for (const auto& [host, unused] : hosts_)
      for (Index k = 0; k < ranks_per_host; ++k) visit_rank(RankId(host * ranks_per_host + k));
  } else {
    for (Index k = 0; k < width_; ++k) visit_rank(copy_rank(k));
  }
  apart_.sort();
  for (auto& [unused, host] : hosts_) host.receivers.sort();
}

RankId Copies::sender(RankId receiver, Index part, Index copy) const {
  if (width_ == 1) return copy_rank(0);
  if (options_.policy == SenderPolicy::modulo) {
    return by_rank_[static_cast<std::size_t>(turned(*target_.mesh().ordinal_of(receiver) % width_))];
  }
  const Wide begin = before(part, copy);
  if (!hosts_.empty())
    if (const auto host = hosts_.find(receiver.value() / options_.ranks_per_host); host != hosts_.end()) {
      const auto& [copies, receivers] = host->second;
      const Index at = stretch(receivers.elements_before(begin), receivers.elements(), std::ssize(copies));
      return copies[static_cast<std::size_t>(at)];
    }
  const Wide total = static_cast<Wide>(parts_.elements()) * target_width_ - apart_.elements();
  return copy_rank(turned(stretch(begin - apart_.elements_before(begin), total, width_)));
}

}  // namespace reshard
