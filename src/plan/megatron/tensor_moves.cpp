#include "plan/megatron/tensor_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "base/checked.h"
#include "base/fail.h"
#include "plan/megatron/mixed_packing.h"

namespace reshard::megatron {
namespace {

// 64-bit FNV-1a: the same on every rank and machine.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

// Calls visit(box) for the boxes of a product of spans.
template <class Visit>
void each_box(const std::vector<std::vector<Span>>& dims, const Visit& visit) {
  std::vector<std::size_t> at(dims.size(), 0);
  for (;;) {
    std::vector<Span> box;
    for (std::size_t dim = 0; dim < at.size(); ++dim) box.push_back(dims[dim][at[dim]]);
    visit(std::move(box));
    std::size_t dim = at.size();
    while (dim > 0 && ++at[dim - 1] == dims[dim - 1].size()) at[--dim] = 0;
    if (dim == 0) return;
  }
}

bool begins_before(const ShardOperation& a, const ShardOperation& b) {
  return std::ranges::lexicographical_compare(a.box, b.box, {}, &Span::target, &Span::target);
}

std::vector<Holdings> sides_of(const Roster& roster, const std::map<std::string_view, std::vector<Index>>& targets) {
  std::vector<Holdings> sides;
  sides.reserve(targets.size());
  for (const auto& [name, records] : targets) sides.emplace_back(roster, "target", name, records);
  return sides;
}

}  // namespace

TensorMoves::TensorMoves(const Rosters& rosters, const ShardOptions& options, std::string_view name,
                         std::vector<Index> sources, const std::map<std::string_view, std::vector<Index>>& targets,
                         Index& steps)
    : rosters_(rosters),
      options_(options),
      sources_(rosters.sources, "source", name, std::move(sources)),
      targets_(sides_of(rosters.targets, targets)),
      representatives_(sources_) {
  check_sources();
  settle_packing(sources_, targets_, options_.mixed);
  steps += std::ssize(sources_.records());
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    for (const Index record : targets_[k].records()) side_[record] = k;
    steps += std::ssize(targets_[k].records());
  }
}

Holdings& TensorMoves::side_of(Index target) { return targets_[side_.at(target)]; }

const std::vector<Segments>& TensorMoves::wanted_by(Index target) {
  const Holdings& side = side_of(target);
  return side.form_with(target).shards[static_cast<std::size_t>(side.held(target).shard)].dims;
}

const Parameter& TensorMoves::parameter(Index target) const {
  return rosters_.targets.parameters[static_cast<std::size_t>(target)];
}

void TensorMoves::check_sources() const {
  const HeldForm& first = sources_.forms().front();
  for (const HeldForm& other : sources_.forms()) {
    const Parameter &a = sources_.example(first), &b = sources_.example(other);
    if (first.form.dtype != other.form.dtype || first.form.global_shape() != other.form.global_shape())
      fail(Code::invalid_argument,
           "tensor '{}': source ranks {} and {} hold different tensors of this name, {} {} and {} {}; names must be "
           "those of the whole model",
           sources_.name(), a.owner.value(), b.owner.value(), reshard::name_of(first.form.dtype),
           list_text(first.form.global_shape()), reshard::name_of(other.form.dtype),
           list_text(other.form.global_shape()));
  }
}

void TensorMoves::check_alike(Index source_form, Index target) const {
  const HeldForm& source = sources_.forms()[static_cast<std::size_t>(source_form)];
  const Parameter &from = sources_.example(source), &to = parameter(target);
  const ShardForm& wanted = targets_[side_.at(target)].form_with(target).form;
  if (source.form.global_shape() != wanted.global_shape())
    fail(
        Code::invalid_argument,
        "tensor '{}': source rank {} describes the whole as {} (stored {}) and target rank {} as {} (stored {}); check "
        "is_tp, partition_dim, the groups and the padding of either record",
        sources_.name(), from.owner.value(), list_text(source.form.global_shape()), list_text(from.shape),
        to.owner.value(), list_text(wanted.global_shape()), list_text(to.shape));
  if (source.form.dtype != wanted.dtype)
    fail(Code::invalid_argument,
         "tensor '{}': source rank {} holds {} and target rank {} wants {}; convert before or after the move",
         sources_.name(), from.owner.value(), reshard::name_of(source.form.dtype), to.owner.value(),
         reshard::name_of(wanted.dtype));
}

Index TensorMoves::form_by_rank(Index target) const {
  const ShardForm& wanted = targets_[side_.at(target)].form_with(target).form;
  const auto usable = [&](const ShardForm& form) {
    return form.ep_size == wanted.ep_size && form.ep_index == wanted.ep_index;
  };
  const auto own = sources_.record_of(parameter(target).owner);
  if (own && usable(sources_.form_with(*own).form)) return sources_.held(*own).form;
  for (std::size_t k = 0; k < sources_.forms().size(); ++k)
    if (usable(sources_.forms()[k].form)) return static_cast<Index>(k);
  const HeldForm& first = sources_.forms().front();
  if (first.form.ep_size != wanted.ep_size)
    fail(Code::unsupported,
         "tensor '{}' holds experts fused in one tensor, in {} parts on source rank {} and {} on target rank {}; which "
         "expert is which row is not known: give each expert a tensor of its own (weight0, weight1, ..)",
         sources_.name(), first.form.ep_size, sources_.example(first).owner.value(), wanted.ep_size,
         parameter(target).owner.value());
  fail(Code::invalid_argument,
       "tensor '{}': target rank {} wants part {} of {} of the experts, and no source rank holds "
       "it; rank {} holds part {}",
       sources_.name(), parameter(target).owner.value(), wanted.ep_index, wanted.ep_size,
       sources_.example(first).owner.value(), first.form.ep_index);
}

Index TensorMoves::source_form(Index target) {
  const auto known = form_.find(target);
  if (known != form_.end()) return known->second;
  Index form = form_by_rank(target);
  if (options_.rule == SourceRule::megatron) form = sources_.held(representatives_.of(parameter(target))).form;
  check_alike(form, target);
  form_[target] = form;
  return form;
}

std::optional<Index> TensorMoves::sender(Index form, Index shard, Index target, Index& steps) {
  if (options_.rule == SourceRule::megatron)
    return sources_.member(sources_.held(representatives_.of(parameter(target))).grid, shard);
  const std::vector<Index>& copies =
      sources_.forms()[static_cast<std::size_t>(form)].shards[static_cast<std::size_t>(shard)].copies;
  return copies.size() == 1 ? copies.front() : chosen(form, shard, steps).sender.at(target);
}

const TensorMoves::Chosen& TensorMoves::chosen(Index form, Index shard, Index& steps) {
  const auto [entry, fresh] = chosen_.try_emplace({form, shard});
  if (!fresh) return entry->second;
  const HeldShard& held = sources_.forms()[static_cast<std::size_t>(form)].shards[static_cast<std::size_t>(shard)];
  struct Receiver {
    RankId rank;
    Index record = 0;
    Index elements = 0;
  };
  std::vector<Receiver> receivers;
  for (Holdings& side : targets_)
    for (Index k = 0; k < std::ssize(side.forms()); ++k)
      for (const ShardHit& hit : side.index(k).overlapping(held.dims, steps))
        for (const Index target :
             side.forms()[static_cast<std::size_t>(k)].shards[static_cast<std::size_t>(hit.shard)].copies)
          if (source_form(target) == form) receivers.push_back({parameter(target).owner, target, hit.elements()});
  std::ranges::sort(receivers, {}, [](const Receiver& r) { return std::pair(r.rank, r.record); });

  const std::size_t first = hash_of(sources_.name()) % held.copies.size();
  using Load = std::pair<Index, std::size_t>;  // elements sent, and the turn
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::size_t turn = 0; turn < held.copies.size(); ++turn) loads.push({0, turn});
  for (const auto& [rank, target, elements] : receivers) {
    ++steps;
    const auto own =
        std::ranges::lower_bound(held.copies, rank, {}, [&](Index copy) { return sources_.parameter(copy).owner; });
    if (own != held.copies.end() && sources_.parameter(*own).owner == rank) {
      entry->second.sender[target] = *own;
      continue;
    }
    const auto [load, turn] = loads.top();
    loads.pop();
    loads.push({load + elements, turn});
    entry->second.sender[target] = held.copies[(first + turn) % held.copies.size()];
  }
  return entry->second;
}

std::vector<ShardOperation> TensorMoves::receives(Index target, Index& steps) {
  const Index form = source_form(target);
  const std::vector<Segments>& wanted = wanted_by(target);
  const Parameter& to = parameter(target);
  std::vector<ShardOperation> operations;
  std::vector<RankId> from;
  Index covered = 0, needed = 1;
  for (const Segments& segments : wanted) needed *= length_of(segments);
  for (const ShardHit& hit : sources_.index(form).overlapping(wanted, steps)) {
    const std::optional<Index> source = sender(form, hit.shard, target, steps);
    if (!source) continue;
    covered += hit.elements();
    from.push_back(sources_.parameter(*source).owner);
    each_box(hit.dims, [&](std::vector<Span> box) {
      operations.push_back({.source = from.back(),
                            .target = to.owner,
                            .source_parameter = *source,
                            .target_parameter = target,
                            .box = std::move(box)});
    });
  }
  if (covered != needed) fail_uncovered(form, target, covered, from);
  std::ranges::sort(operations, begins_before);
  for (std::size_t k = 0; k < operations.size(); ++k) operations[k].number = static_cast<Index>(k);
  steps += std::ssize(operations);
  return operations;
}

std::set<Index> TensorMoves::receivers_of(RankId rank, Index& steps) {
  std::set<Index> receivers;
  const std::optional<Index> record = sources_.record_of(rank);
  if (!record) return receivers;
  const HeldShard& held = sources_.form_with(*record).shards[static_cast<std::size_t>(sources_.held(*record).shard)];
  for (Holdings& side : targets_)
    for (Index k = 0; k < std::ssize(side.forms()); ++k)
      for (const ShardHit& hit : side.index(k).overlapping(held.dims, steps)) {
        const auto& shard = side.forms()[static_cast<std::size_t>(k)].shards[static_cast<std::size_t>(hit.shard)];
        receivers.insert(shard.copies.begin(), shard.copies.end());
      }
  return receivers;
}

void TensorMoves::fail_uncovered(Index form, Index target, Index covered, const std::vector<RankId>& from) {
  const ShardForm& cut = sources_.forms()[static_cast<std::size_t>(form)].form;
  const std::vector<Segments>& wanted = wanted_by(target);
  Index needed = 1, unused = 0;
  for (const Segments& segments : wanted) needed *= length_of(segments);
  std::string missing;
  for (Index tp = 0; tp < cut.tp_size && missing.empty(); ++tp)
    for (Index gtp = 0; gtp < cut.gtp_size && missing.empty(); ++gtp) {
      const std::vector<Segments> dims = segments_of(cut, {tp, gtp});
      bool held = ShardIndex({dims}).overlapping(wanted, unused).empty();
      for (const HeldShard& shard : sources_.forms()[static_cast<std::size_t>(form)].shards)
        held =
            held || (shard.place == ShardPlace{tp, gtp} &&
                     (options_.rule == SourceRule::balanced || std::ranges::any_of(shard.copies, [&](Index copy) {
                        return sources_.held(copy).grid == sources_.held(representatives_.of(parameter(target))).grid;
                      })));
      if (!held)
        missing = fmt::format("missing is place {} of tensor parallel and {} of GTP, {}", tp, gtp, bounds_text(dims));
    }
  fail(Code::invalid_argument,
       "tensor '{}': covered {} of {} elements of target rank {} from ranks {}; {}; list the records of all ranks of "
       "the source's groups",
       sources_.name(), covered, needed, parameter(target).owner.value(), ranks_text(from), missing);
}

}  // namespace reshard::megatron
