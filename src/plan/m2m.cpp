#include "reshard/m2m.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/copies.h"
#include "plan/equal_blocks.h"

namespace reshard {
namespace {

constexpr Index kGreatestMap = Index{1} << 26;  // destinations

std::vector<Index> index_in(std::span<const Index> extents, Index number) {
  std::vector<Index> index(extents.size());
  for (std::size_t dim = extents.size(); dim-- > 0;) {
    index[dim] = number % extents[dim];
    number /= extents[dim];
  }
  return index;
}

Index number_in(std::span<const Index> extents, std::span<const Index> index) {
  Index number = 0;
  for (std::size_t dim = 0; dim < extents.size(); ++dim) number = number * extents[dim] + index[dim];
  return number;
}

std::vector<Index> divided(const std::vector<Index>& middle, const std::vector<Index>& counts) {
  std::vector<Index> slicers(middle.size());
  for (std::size_t dim = 0; dim < middle.size(); ++dim) slicers[dim] = middle[dim] / counts[dim];
  return slicers;
}

std::vector<Index> common_multiple(const std::vector<Index>& a, const std::vector<Index>& b) {
  std::vector<Index> middle;
  for (std::size_t dim = 0; dim < a.size(); ++dim)
    middle.push_back(checked_mul(a[dim] / std::gcd(a[dim], b[dim]), b[dim], "m2m map: cells along one dimension"));
  return middle;
}

std::vector<int> pending_axes(const Layout& layout) {
  std::vector<int> axes;
  const auto& kinds = layout.spec().kinds;
  for (int axis = 0; axis < static_cast<int>(kinds.size()); ++axis)
    if (kinds[axis].kind == AxisKind::Kind::partial) axes.push_back(axis);
  return axes;
}

// Sums and averages commute with each other; any other two kinds give a result that depends on which goes first.
bool commute(ReduceOp a, ReduceOp b) {
  const auto is_linear = [](ReduceOp op) { return op == ReduceOp::sum || op == ReduceOp::avg; };
  return a == b || (is_linear(a) && is_linear(b));
}

void check_partial(const Layout& source, const Layout& target) {
  if (target.has_partial())
    fail(Code::unsupported,
         "m2m map: target {} is pending along axis \"{}\": how a value splits into terms is nobody's choice but the "
         "target's; move to a replicated layout and form the terms there",
         target.text(), target.mesh().axes()[pending_axes(target).front()].name);
  const std::vector<int> axes = pending_axes(source);
  for (const int axis : axes) {
    const auto& kinds = source.spec().kinds;
    if (!commute(kinds[axes.front()].op, kinds[axis].op))
      fail(Code::unsupported,
           "m2m map: source {}: partial({}) along \"{}\" and partial({}) along \"{}\" give another result in another "
           "order; reduce one of them first",
           source.text(), name_of(kinds[axes.front()].op), source.mesh().axes()[axes.front()].name,
           name_of(kinds[axis].op), source.mesh().axes()[axis].name);
  }
}

// Per block, its ranks in ascending order.
std::vector<std::vector<RankId>> holders_of(const EqualBlocks& source) {
  std::vector<std::vector<RankId>> holders(
      static_cast<std::size_t>(checked_product(source.counts, "m2m map: source shards")));
  for (const HeldBlock& held : source.ranks) holders[static_cast<std::size_t>(held.block)].push_back(held.rank);
  for (auto& ranks : holders) std::ranges::sort(ranks);
  return holders;
}

class Joiner {
 public:
  Joiner(const EqualBlocks& source, const EqualBlocks& target, const Layout& layout)
      : source_(source),
        target_(target),
        layout_(layout),
        middle_(common_multiple(source.counts, target.counts)),
        source_slicers_(divided(middle_, source.counts)),
        target_slicers_(divided(middle_, target.counts)),
        holders_(holders_of(source)),
        source_cells_(checked_product(source_slicers_, "m2m map: cells of a source shard")),
        target_cells_(checked_product(target_slicers_, "m2m map: cells of a target shard")) {
    const Index moved = checked_mul(target_cells_, std::ssize(target.ranks), "m2m map: destinations");
    const Index sent = checked_mul(source_cells_, std::ssize(source.ranks), "m2m map: source cells");
    if (std::max(moved, sent) > kGreatestMap)
      fail(Code::unsupported, "m2m map: middle {} makes {} destinations, more than {}; plan() merges cells into boxes",
           fmt::join(middle_, "×"), std::max(moved, sent), kGreatestMap);
  }

  std::vector<Route> routes() {
    for (const HeldBlock& target : target_.ranks)
      for (Index cell = 0; cell < target_cells_; ++cell) join(target, cell);
    add_reduce_only();
    std::vector<Route> routes;
    for (auto& [rank, cells] : sent_)
      for (Index cell = 0; cell < source_cells_; ++cell) {
        Sent& sent = cells[static_cast<std::size_t>(cell)];
        if (sent.routed) routes.push_back({{rank, cell}, std::move(sent.targets)});
      }
    return routes;
  }

 private:
  struct Sent {
    bool routed = false;
    std::vector<RouteEnd> targets;
  };

  Sent& sent(RankId rank, Index cell) {
    auto& cells = sent_[rank];
    if (cells.empty()) cells.resize(static_cast<std::size_t>(source_cells_));
    return cells[static_cast<std::size_t>(cell)];
  }

  void join(const HeldBlock& target, Index cell) {
    const std::vector<Index> at = index_in(target_slicers_, cell), block = index_in(target_.counts, target.block);
    std::vector<Index> source_block(at.size()), source_cell(at.size());
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      const Index middle = block[dim] * target_slicers_[dim] + at[dim];
      source_block[dim] = middle / source_slicers_[dim];
      source_cell[dim] = middle % source_slicers_[dim];
    }
    const auto& holders = holders_[static_cast<std::size_t>(number_in(source_.counts, source_block))];
    const RankId holder = holders[static_cast<std::size_t>(target.ordinal % std::ssize(holders))];
    Sent& entry = sent(holder, number_in(source_slicers_, source_cell));
    entry.routed = true;
    entry.targets.push_back({target.rank, cell});
  }

  // Sub-groups along one partial axis share ranks with those along the next: linked, they are all coordinates along all
  // partial axes.
  void add_reduce_only() {
    const std::vector<int> axes = pending_axes(layout_);
    if (axes.empty()) return;
    const Mesh& mesh = layout_.mesh();
    const Index members = width_of(mesh, axes);
    std::vector<RankId> senders;
    for (const auto& [rank, cells] : sent_) senders.push_back(rank);
    for (const RankId sender : senders) {
      Coordinate coordinate = *mesh.coordinate_of(sender);
      for (Index member = 0; member < members; ++member) {
        set_axes(mesh, axes, member, coordinate);
        const RankId rank = mesh.rank_at(coordinate);
        for (Index cell = 0; rank != sender && cell < source_cells_; ++cell)
          if (sent(sender, cell).routed) sent(rank, cell).routed = true;
      }
    }
  }

  const EqualBlocks& source_;
  const EqualBlocks& target_;
  const Layout& layout_;  // of the source
  std::vector<Index> middle_;
  std::vector<Index> source_slicers_;
  std::vector<Index> target_slicers_;
  std::vector<std::vector<RankId>> holders_;
  Index source_cells_;
  Index target_cells_;
  std::map<RankId, std::vector<Sent>> sent_;
};

}  // namespace

std::string_view name_of(RouteKind kind) {
  switch (kind) {
    case RouteKind::reduce_only: return "reduce-only";
    case RouteKind::one: return "one";
    case RouteKind::many: return "many";
  }
  return "unknown";
}

RouteKind Route::kind() const {
  if (targets.empty()) return RouteKind::reduce_only;
  const Index local = std::ranges::count(targets, source.rank, &RouteEnd::rank);
  return std::ssize(targets) - local > 1 ? RouteKind::many : RouteKind::one;
}

M2MMap::M2MMap(Layout source, Layout target, std::vector<Index> source_counts, std::vector<Index> target_counts,
               std::vector<Route> routes)
    : source_(std::move(source)),
      target_(std::move(target)),
      source_counts_(std::move(source_counts)),
      target_counts_(std::move(target_counts)),
      middle_(common_multiple(source_counts_, target_counts_)),
      source_num_slicers_(divided(middle_, source_counts_)),
      target_num_slicers_(divided(middle_, target_counts_)),
      routes_(std::move(routes)) {
  for (const int axis : pending_axes(source_))
    source_partial_reductions_.push_back({axis, source_.spec().kinds[axis].op});
}

CellIndex M2MMap::source_index(Index cell) const { return index_in(source_num_slicers_, cell); }
CellIndex M2MMap::target_index(Index cell) const { return index_in(target_num_slicers_, cell); }

const Route* M2MMap::find(RankId source, std::span<const Index> index) const {
  bool fits = index.size() == source_num_slicers_.size();
  for (std::size_t dim = 0; fits && dim < index.size(); ++dim)
    fits = 0 <= index[dim] && index[dim] < source_num_slicers_[dim];
  if (!fits)
    fail(Code::invalid_argument, "m2m map: source cell ({}) is outside the grid ({}) of a source shard",
         fmt::join(index, ","), fmt::join(source_num_slicers_, ","));
  const RouteEnd at{source, number_in(source_num_slicers_, index)};
  const auto found = std::ranges::lower_bound(routes_, at, {}, &Route::source);
  return found != routes_.end() && found->source == at ? &*found : nullptr;
}

std::map<RankId, std::map<CellIndex, std::vector<CellAt>>> M2MMap::dict() const {
  std::map<RankId, std::map<CellIndex, std::vector<CellAt>>> dict;
  for (const Route& route : routes_) {
    std::vector<CellAt>& targets = dict[route.source.rank][source_index(route.source.cell)];
    for (const RouteEnd& target : route.targets) targets.push_back({target.rank, target_index(target.cell)});
  }
  return dict;
}

M2MMap m2m_map(const Layout& source, const Layout& target) {
  if (source.shape() != target.shape())
    fail(Code::invalid_argument, "m2m map: source {} and target {} differ in shape", source.text(), target.text());
  check_partial(source, target);
  const EqualBlocks from = equal_blocks(source, "source"), to = equal_blocks(target, "target");
  return M2MMap(source, target, from.counts, to.counts, Joiner(from, to, source).routes());
}

}  // namespace reshard
