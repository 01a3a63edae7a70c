#include "plan/megatron/holdings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/fail.h"

namespace reshard::megatron {
namespace {

// Members of the first two share one copy of the tensor between them.
constexpr GroupKind kKinds[] = {{"tensor parallel", &Parameter::tp_group, &Parameter::is_tp},
                                {"GTP", &Parameter::gtp_group, &Parameter::is_gtp},
                                {"expert parallel", &Parameter::ep_group, nullptr},
                                {"data parallel", &Parameter::dp_group, nullptr}};

bool same_but_for_name(Parameter a, const Parameter& b) {
  a.name = b.name;
  return a == b;
}

// Sets that grow together.
class Union {
 public:
  explicit Union(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  void unite(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({root(a), root(b)});
    parent_[high] = low;
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

Index HeldShard::elements() const {
  Index elements = 1;
  for (const Segments& segments : dims) elements *= length_of(segments);
  return elements;
}

Holdings::Holdings(const Roster& roster, std::string_view side, std::string_view name, std::vector<Index> records)
    : roster_(roster), side_(side), name_(name) {
  sort_records(std::move(records));
  sort_into_forms();
  find_grids();
  for (HeldForm& form : forms_)
    for (HeldShard& shard : form.shards) shard.dims = segments_of(form.form, shard.place);
  indices_.resize(forms_.size());
}

void Holdings::sort_records(std::vector<Index> records) {
  std::ranges::sort(records, {}, [&](Index record) { return std::pair(parameter(record).owner, record); });
  for (const Index record : records) {
    const bool again = !records_.empty() && parameter(records_.back()).owner == parameter(record).owner;
    if (again && !same_but_for_name(parameter(records_.back()), parameter(record)))
      fail(Code::invalid_argument,
           "tensor '{}': {} rank {} holds two different tensors of this name, locally '{}' and '{}'; names must be "
           "those of the whole model, with its numbers of layers and experts",
           name_, side_, parameter(record).owner.value(), parameter(records_.back()).name, parameter(record).name);
    if (again && parameter(records_.back()).name == parameter(record).name)
      fail(Code::invalid_argument,
           "tensor '{}': two {} records of rank {} are both locally '{}'; list each tensor of a rank once, and check "
           "owner_rank",
           name_, side_, parameter(record).owner.value(), parameter(record).name);
    if (!again || side_ == "target") records_.push_back(record);
  }
}

void Holdings::sort_into_forms() {
  std::map<ShardForm, Index> forms;
  std::map<std::pair<Index, ShardPlace>, Index> shards;
  for (const Index record : records_) {
    const ShardForm form = form_of(parameter(record));
    const ShardPlace place = place_of(parameter(record));
    const auto [entry, new_form] = forms.try_emplace(form, static_cast<Index>(forms_.size()));
    if (new_form) forms_.push_back({.form = form, .shards = {}});
    HeldForm& into = forms_[static_cast<std::size_t>(entry->second)];
    const auto [shard, new_shard] = shards.try_emplace({entry->second, place}, static_cast<Index>(into.shards.size()));
    if (new_shard) into.shards.push_back({.place = place, .dims = {}, .copies = {}});
    into.shards[static_cast<std::size_t>(shard->second)].copies.push_back(record);
    held_[record] = {.form = entry->second, .shard = shard->second};
  }
}

void Holdings::find_grids() {
  Union grids(records_.size());
  std::set<std::pair<const GroupKind*, const void*>> known;  // lists whose members were looked at
  std::map<RankId, std::size_t> first;
  for (std::size_t k = 0; k < records_.size(); ++k) first.try_emplace(parameter(records_[k]).owner, k);
  for (std::size_t k = 0; k < records_.size(); ++k) {
    const Parameter& listing = parameter(records_[k]);
    for (const GroupKind& kind : kKinds) {
      const RankGroup& group = listing.*kind.group;
      const bool used = kind.flag == nullptr || listing.*kind.flag;
      if (!used || !known.insert({&kind, &group.ranks()}).second) continue;
      for (const RankId rank : group.ranks()) {
        const auto member = first.find(rank);
        if (member == first.end()) continue;
        check_member(listing, kind, records_[member->second]);
        if (kind.flag != nullptr) grids.unite(k, member->second);
      }
    }
  }
  std::vector<std::size_t> root;
  for (std::size_t k = 0; k < records_.size(); ++k) root.push_back(grids.root(k));
  number_grids(root);
}

void Holdings::number_grids(const std::vector<std::size_t>& root) {
  std::map<std::size_t, Index> numbers;
  for (std::size_t k = 0; k < records_.size(); ++k) {
    const Index grid = numbers.try_emplace(root[k], static_cast<Index>(numbers.size())).first->second;
    Held& held = held_[records_[k]];
    held.grid = grid;
    const auto [entry, fresh] = members_.try_emplace({grid, held.shard}, records_[k]);
    const Parameter &first = parameter(entry->second), &second = parameter(records_[k]);
    if (!fresh && first.owner != second.owner)
      fail(Code::invalid_argument,
           "tensor '{}': {} ranks {} and {} belong to one set of groups and overlap: both claim place {} of tensor "
           "parallel and place {} of GTP; groups of one kind must be lines of a grid",
           name_, side_, first.owner.value(), second.owner.value(), place_of(first).tp, place_of(first).gtp);
  }
  grids_ = static_cast<Index>(numbers.size());
}

void Holdings::check_member(const Parameter& listing, const GroupKind& kind, Index member) const {
  const Parameter& other = parameter(member);
  const RankGroup &group = listing.*kind.group, &theirs = other.*kind.group;
  const ShardForm& form = form_with(*record_of(listing.owner)).form;
  const ShardForm& other_form = form_with(member).form;
  if (kind.flag != nullptr && !(form == other_form))
    fail(Code::invalid_argument, "tensor '{}': {} ranks {} and {} share the {} group {} and differ: {}", name_, side_,
         listing.owner.value(), other.owner.value(), kind.name, group.text(),
         difference_text(form, listing.owner, other_form, other.owner));
  if (theirs == group) return;
  const std::optional<Index> place = group.index_of(listing.owner);
  const bool overlap = kind.flag != nullptr && place == theirs.index_of(other.owner);
  fail(Code::invalid_argument,
       "tensor '{}': {} rank {} lists its {} group as {} and rank {} as {}{}; all members must list it in the same "
       "order",
       name_, side_, listing.owner.value(), kind.name, group.text(), other.owner.value(), theirs.text(),
       overlap ? fmt::format(", so that both claim place {} and overlap in {}", *place,
                             bounds_text(segments_of(form, place_of(listing))))
               : "");
}

std::optional<Index> Holdings::record_of(RankId rank) const {
  const auto found =
      std::ranges::lower_bound(records_, rank, {}, [&](Index record) { return parameter(record).owner; });
  if (found == records_.end() || parameter(*found).owner != rank) return std::nullopt;
  return *found;
}

std::optional<Index> Holdings::member(Index grid, Index shard) const {
  const auto found = members_.find({grid, shard});
  return found == members_.end() ? std::nullopt : std::optional(found->second);
}

void Holdings::read_as_packed(std::size_t form, std::vector<Index> sizes) {
  HeldForm& held = forms_[form];
  held.form.sizes = std::move(sizes);
  held.form.stride = 1;
  for (HeldShard& shard : held.shards) shard.dims = segments_of(held.form, shard.place);
}

const ShardIndex& Holdings::index(Index form) {
  std::unique_ptr<ShardIndex>& index = indices_[static_cast<std::size_t>(form)];
  if (!index) {
    std::vector<std::vector<Segments>> shards;
    for (const HeldShard& shard : forms_[static_cast<std::size_t>(form)].shards) shards.push_back(shard.dims);
    index = std::make_unique<ShardIndex>(shards);
  }
  return *index;
}

std::string bounds_text(const std::vector<Segments>& dims) {
  std::vector<std::string> bounds;
  for (const Segments& segments : dims)
    bounds.push_back(segments.empty() ? "nothing"
                                      : fmt::format("{}:{}", segments.front().global.value(),
                                                    (segments.back().global + segments.back().length).value()));
  return fmt::format("[{}]", fmt::join(bounds, ", "));
}

}  // namespace reshard::megatron
