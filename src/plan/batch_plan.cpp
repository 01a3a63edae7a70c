#include "reshard/batch_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/fail.h"
#include "base/fingerprint.h"
#include "plan/copies.h"
#include "plan/planner.h"

namespace reshard {
namespace {

int place_of(std::vector<Layout>& layouts, const Layout& layout) {
  const auto place = static_cast<int>(std::ranges::find(layouts, layout) - layouts.begin());
  if (place == std::ssize(layouts)) layouts.push_back(layout);
  return place;
}

// For each layout listed, the first that is equal to it.
std::vector<int> first_equals(const std::vector<Layout>& layouts) {
  std::map<std::string, int> known;
  std::vector<int> first;
  for (const Layout& layout : layouts)
    first.push_back(known.emplace(layout.text(), static_cast<int>(first.size())).first->second);
  return first;
}

int listed(const std::vector<int>& places, int place, const BatchTensor& tensor, std::string_view side) {
  if (place < 0 || place >= std::ssize(places))
    fail(Code::invalid_argument, "tensor {}: its {} is layout {}, but {} are listed", tensor.name, side, place,
         places.size());
  return places[static_cast<std::size_t>(place)];
}

void check_names(const std::vector<BatchTensor>& sorted) {
  const auto twice = std::ranges::adjacent_find(sorted, {}, &BatchTensor::name);
  if (twice != sorted.end())
    fail(Code::invalid_argument, "tensor {} is in the batch twice; give every tensor a name of its own", twice->name);
}

// Tensors with the same layouts on both sides, by name.
using Group = std::vector<BatchTensor>;

std::vector<Group> groups_of(std::vector<BatchTensor> sorted) {
  std::vector<Group> groups;
  std::map<std::pair<int, int>, std::size_t> known;
  for (BatchTensor& tensor : sorted) {
    const auto [entry, fresh] = known.emplace(std::pair(tensor.source, tensor.target), groups.size());
    if (fresh) groups.emplace_back();
    groups[entry->second].push_back(std::move(tensor));
  }
  return groups;
}

void check_pair(const Layout& source, const Layout& target, const PlanOptions& options, const BatchTensor& tensor) {
  for (const Layout* side : {&source, &target})
    if (side->has_partial())
      fail(Code::unsupported, "tensor {}: {} is a pending reduction; a batch moves values only, so move this one alone",
           tensor.name, side->text());
  try {
    Planner(source, target, options);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("tensor {}: {}", tensor.name, error.what()));
  }
}

}  // namespace

void Batch::add(std::string name, const Layout& source, const Layout& target) {
  tensors.push_back({std::move(name), place_of(sources, source), place_of(targets, target)});
}

BatchPlan::BatchPlan(Batch batch, BatchOptions options)
    : options_(options), sources_(std::move(batch.sources)), targets_(std::move(batch.targets)) {
  if (options.pack_below < 0 || options.plan.staging_limit < 0)
    fail(Code::invalid_argument, "pack_below ({}) and the limit of staging ({}) must not be negative",
         options.pack_below, options.plan.staging_limit);
  const std::vector<int> sources = first_equals(sources_), targets = first_equals(targets_);
  for (BatchTensor& tensor : batch.tensors) {
    tensor.source = listed(sources, tensor.source, tensor, "source");
    tensor.target = listed(targets, tensor.target, tensor, "target");
  }
  std::ranges::sort(batch.tensors, {}, &BatchTensor::name);
  check_names(batch.tensors);
  // Turns go on where the group before left off: groups of few tensors would else all begin with the first copy.
  Index begin = 0;
  for (const Group& group : groups_of(std::move(batch.tensors))) {
    const Layout &source = sources_[static_cast<std::size_t>(group.front().source)],
                 &target = targets_[static_cast<std::size_t>(group.front().target)];
    check_pair(source, target, options_.plan, group.front());
    const Index turns = width_of(source.mesh(), free_axes(source)), count = std::ssize(group);
    for (Index k = 0; k < std::min(turns, count); ++k) {
      classes_.push_back({group.front().source, group.front().target, (begin + k) % turns, std::ssize(tensors_), 0});
      for (Index at = k; at < count; at += turns, ++classes_.back().count)
        tensors_.push_back(group[static_cast<std::size_t>(at)]);
    }
    begin += count;
  }
}

PlanOptions BatchPlan::options(const BatchClass& c) const {
  PlanOptions options = options_.plan;
  options.rotation %= width_of(source(c).mesh(), free_axes(source(c)));  // so that the sum fits
  options.rotation += c.turn;
  return options;
}

std::uint64_t BatchPlan::fingerprint() const {
  std::uint64_t digest = reshard::fingerprint({});
  const auto mix = [&](std::string_view text) { digest = reshard::fingerprint(text, digest); };
  const PlanOptions& plan = options_.plan;
  mix(fmt::format("{} {} {} {} {} {}\n", name_of(plan.policy), plan.ranks_per_host, plan.ranks_per_rack, plan.rotation,
                  plan.staging_limit, options_.pack_below));
  for (const BatchClass& c : classes_) {
    mix(fmt::format("{}\n{}\n{}\n", source(c).text(), target(c).text(), c.turn));
    for (Index k = c.first; k < c.first + c.count; ++k) mix(tensors_[static_cast<std::size_t>(k)].name + "\n");
  }
  return digest;
}

RankBatch BatchPlan::of_rank(RankId rank) const {
  RankBatch batch{.rank = rank, .copies = {}, .sends = {}, .receives = {}};
  std::map<RankId, std::vector<ClassTransfer>> sends, receives;
  for (int k = 0; k < std::ssize(classes_); ++k) {
    const BatchClass& c = classes_[static_cast<std::size_t>(k)];
    const PlanOptions options = this->options(c);
    Planner planner(source(c), target(c), options);
    for (Transfer& transfer : planner.receives(rank)) {
      std::vector<ClassTransfer>& list = transfer.is_local() ? batch.copies : receives[transfer.source];
      list.push_back({k, std::move(transfer)});
    }
    for (Transfer& transfer : planner.sends(rank))
      if (!transfer.is_local()) sends[transfer.target].push_back({k, std::move(transfer)});
  }
  for (auto& [peer, transfers] : sends) batch.sends.push_back({peer, std::move(transfers)});
  for (auto& [peer, transfers] : receives) batch.receives.push_back({peer, std::move(transfers)});
  return batch;
}

}  // namespace reshard
