// Proves a plan of rosters right: what each end holds is derived from layouts, not from what the planner derived.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/fail.h"
#include "plan/box_index.h"
#include "plan/megatron/mixed_packing.h"
#include "plan/megatron/names.h"
#include "plan/megatron/shard_layout.h"

namespace reshard::megatron {
namespace {

constexpr std::size_t kGreatestShardReport = 100;

// What a record holds, by the layout of its form.
class Held {
 public:
  const std::vector<Segments>& of(const ShardForm& form, const ShardPlace& place) {
    const auto [layout, fresh] = layouts_.try_emplace(form);
    if (fresh) layout->second = std::make_unique<Layout>(grid_layout(form));
    const auto [region, new_region] = regions_.try_emplace({form, place});
    if (new_region) region->second = layout->second->region_at(grid_coordinate(form, place)).dims;
    return region->second;
  }

 private:
  std::map<ShardForm, std::unique_ptr<Layout>> layouts_;
  std::map<std::pair<ShardForm, ShardPlace>, std::vector<Segments>> regions_;
};

// What lies at local [begin, begin + length): global runs as long as can be, counted from `begin`. Shorter in all where
// nothing is held.
Segments runs_of(const Segments& segments, LocalIndex begin, Index length) {
  Segments runs;
  for (const Segment& segment : segments) {
    const LocalIndex first = std::max(segment.local, begin);
    const LocalIndex last = std::min(segment.local + segment.length, begin + length);
    if (first >= last) continue;
    const Segment run{LocalIndex(first - begin), segment.global + (first - segment.local), last - first};
    const bool goes_on = !runs.empty() && runs.back().local + runs.back().length == run.local &&
                         runs.back().global + runs.back().length == run.global;
    if (goes_on) runs.back().length += run.length;
    if (!goes_on) runs.push_back(run);
  }
  return runs;
}

class Proof {
 public:
  Proof(const Rosters& rosters, const ShardPlan& plan, const ShardOptions& options)
      : rosters_(rosters), plan_(plan), options_(options) {}

  std::vector<Fault> faults() && {
    read_forms();
    for (std::size_t k = 0; k < plan_.operations.size(); ++k) check(k);
    for (std::size_t k = 0; k < rosters_.targets.parameters.size(); ++k) check_covered(static_cast<Index>(k));
    return std::move(faults_);
  }

 private:
  template <class... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args) {
    if (faults_.size() < kGreatestShardReport) faults_.push_back({fmt::format(format, std::forward<Args>(args)...)});
  }

  const Parameter* source(Index k) const { return record(rosters_.sources, k); }
  const Parameter* target(Index k) const { return record(rosters_.targets, k); }
  static const Parameter* record(const Roster& roster, Index k) {
    return k >= 0 && k < std::ssize(roster.parameters) ? &roster.parameters[static_cast<std::size_t>(k)] : nullptr;
  }

  // Forms as the options say that mixed packing is meant.
  void read_forms() {
    std::map<std::string_view, std::vector<Index>> sources;
    for (Index k = 0; k < std::ssize(rosters_.sources.parameters); ++k) sources[source(k)->resolved_name].push_back(k);
    std::map<std::string_view, std::map<std::string_view, std::vector<Index>>> targets;  // by name of the source
    for (Index k = 0; k < std::ssize(rosters_.targets.parameters); ++k) {
      const std::string& name = target(k)->resolved_name;
      std::vector<std::string> names = tied_names(name);
      names.insert(names.begin(), name);
      const auto found = std::ranges::find_if(names, [&](const std::string& other) { return sources.contains(other); });
      if (found != names.end()) targets[sources.find(*found)->first][name].push_back(k);
    }
    for (const auto& [name, wanted] : targets) {
      Holdings from(rosters_.sources, "source", name, sources.at(name));
      std::vector<Holdings> to;
      for (const auto& [other, records] : wanted) to.emplace_back(rosters_.targets, "target", other, records);
      settle_packing(from, to, options_.mixed);
      for (const Index k : from.records()) source_forms_[k] = from.form_with(k).form;
      for (const Holdings& side : to)
        for (const Index k : side.records()) target_forms_[k] = side.form_with(k).form;
    }
  }

  static bool ties(std::string_view target, std::string_view source) {
    const std::vector<std::string> names = tied_names(target);
    return std::ranges::find(names, source) != names.end();
  }

  void check(std::size_t k) {
    const ShardOperation& operation = plan_.operations[k];
    const Parameter *from = source(operation.source_parameter), *to = target(operation.target_parameter);
    if (from == nullptr || to == nullptr || !source_forms_.contains(operation.source_parameter) ||
        !target_forms_.contains(operation.target_parameter))
      return fault("box {}: parameters {} and {} are not those of a source and a target", k, operation.source_parameter,
                   operation.target_parameter);
    if (from->owner != operation.source || to->owner != operation.target)
      return fault("box {}: '{}' goes from rank {} to rank {}, and the records are those of ranks {} and {}", k,
                   to->name, operation.source.value(), operation.target.value(), from->owner.value(),
                   to->owner.value());
    if (from->resolved_name != to->resolved_name && !ties(to->resolved_name, from->resolved_name))
      return fault("box {}: '{}' of rank {} is filled from '{}'", k, to->resolved_name, to->owner.value(),
                   from->resolved_name);
    check_box(k, *from, *to);
    filled_[operation.target_parameter].push_back(k);
  }

  void check_box(std::size_t k, const Parameter& from, const Parameter& to) {
    const ShardOperation& operation = plan_.operations[k];
    const auto& have = held_.of(source_forms_.at(operation.source_parameter), place_of(from));
    const auto& want = held_.of(target_forms_.at(operation.target_parameter), place_of(to));
    if (operation.box.size() != have.size() || operation.box.size() != want.size())
      return fault("box {}: {} dimensions for '{}'", k, operation.box.size(), to.name);
    for (std::size_t dim = 0; dim < have.size(); ++dim) {
      const Span& span = operation.box[dim];
      const Segments there = runs_of(have[dim], span.source, span.length);
      const Segments here = runs_of(want[dim], span.target, span.length);
      if (span.length < 1 || here != there || length_of(here) != span.length)
        fault("box {}: '{}', dimension {}: [{}:{}) of rank {} is not what [{}:{}) of rank {} must hold", k, to.name,
              dim, span.source.value(), (span.source + span.length).value(), operation.source.value(),
              span.target.value(), (span.target + span.length).value(), operation.target.value());
    }
  }

  void check_covered(Index record) {
    const Parameter& to = *target(record);
    if (!target_forms_.contains(record)) return fault("'{}' of rank {} is of no source", to.name, to.owner.value());
    Index needed = 1, written = 0;
    for (const Segments& segments : held_.of(target_forms_.at(record), place_of(to))) needed *= length_of(segments);
    std::vector<Box> boxes;
    for (const std::size_t k : filled_[record]) {
      Box& box = boxes.emplace_back();
      for (const Span& span : plan_.operations[k].box) {
        box.offsets.push_back(GlobalIndex(span.target.value()));
        box.sizes.push_back(span.length);
      }
      written += box.elements();
      if (box.elements() == 0) boxes.pop_back();
    }
    if (written != needed)
      fault("'{}' of rank {}: {} of {} elements are written", to.name, to.owner.value(), written, needed);
    Index comparisons = 0;
    const BoxIndex index(boxes);
    for (Index k = 0; k < index.size(); ++k)
      for (const Index other : index.overlapping(index.box(k), comparisons))
        if (other > k)
          fault("'{}' of rank {}: {} is written twice", to.name, to.owner.value(),
                common(index.box(k), index.box(other))->text());
  }

  const Rosters& rosters_;
  const ShardPlan& plan_;
  const ShardOptions& options_;
  std::map<Index, ShardForm> source_forms_, target_forms_;  // by record
  std::map<Index, std::vector<std::size_t>> filled_;        // operations by target record
  Held held_;
  std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> verify(const Rosters& rosters, const ShardPlan& plan, const ShardOptions& options) {
  return Proof(rosters, plan, options).faults();
}

}  // namespace reshard::megatron
