#include "property/layout_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "property/plan_oracle.h"
#include "reshard/agreement.h"

namespace reshard {
namespace {

// The same axes, with all ranks moved up by `ranks`.
Mesh moved_up(const Mesh& mesh, Index ranks) {
  std::vector<RankId> list;
  for (Index ordinal = 0; ordinal < mesh.size(); ++ordinal) list.push_back(mesh.rank_at_ordinal(ordinal) + ranks);
  return Mesh::listed(mesh.name(), mesh.axes(), std::move(list), mesh.groups());
}

class Faults {
 public:
  explicit Faults(const LayoutPair& pair) : pair_(pair) {}

  std::vector<std::string> take() { return std::move(faults_); }
  void add(std::string what) { faults_.push_back(std::move(what)); }

  void judge_layout(const Layout& of, const oracle::Side& side) {
    for (const std::string& fault : oracle::layout_faults(of, side)) add(fault);
    const Layout again = layout(of.text());
    if (again != of || again.text() != of.text() || again.fingerprint() != of.fingerprint())
      add(fmt::format("{} reads back as {}", of.text(), again.text()));
  }

  void judge_plan(const Plan& p, const oracle::Side& source, const oracle::Side& target) {
    for (const Fault& fault : verify(p)) add("verify: " + fault.message);
    for (const std::string& fault : oracle::plan_faults(p, source, target)) add(fault);
    const Plan again = plan_from_json(p.json());
    if (again != p || again.text() != p.text()) add("the plan reads back as another: " + p.json());
  }

  // What each rank works out alone is its part of the whole plan, and both ends of every message agree.
  void judge_own_parts(const Plan& p) {
    std::vector<Transfer> sends, receives;
    const RankId end = std::max(pair_.source.mesh().end_rank(), pair_.target.mesh().end_rank());
    for (RankId rank(0); rank < end; ++rank) {
      for (Transfer& t : plan_receives(pair_.source, pair_.target, rank, pair_.options)) {
        if (t.target != rank) add(fmt::format("rank {} receives what goes to {}", rank.value(), t.target.value()));
        receives.push_back(std::move(t));
      }
      for (Transfer& t : plan_sends(pair_.source, pair_.target, rank, pair_.options)) {
        if (t.source != rank) add(fmt::format("rank {} sends what {} holds", rank.value(), t.source.value()));
        sends.push_back(std::move(t));
      }
    }
    if (!std::ranges::equal(receives, p.transfers())) add("what ranks receive is not the whole plan");
    for (const Fault& fault : check_agreement(sends, receives)) add(fault.message);
  }

 private:
  const LayoutPair& pair_;
  std::vector<std::string> faults_;
};

}  // namespace

std::string LayoutPair::text() const {
  return fmt::format("{}  ->  {}  ({}, ranks_per_host {}, ranks_per_rack {}, rotation {})", source.text(),
                     target.text(), name_of(options.policy), options.ranks_per_host, options.ranks_per_rack,
                     options.rotation);
}

PlanOptions random_plan_options(Random& random) {
  PlanOptions options;
  const std::span<const SenderPolicy> policies = all_sender_policies();
  options.policy = policies[static_cast<std::size_t>(random.below(std::ssize(policies)))];
  options.ranks_per_host = random.below(5);
  options.ranks_per_rack = options.ranks_per_host * random.below(4);
  options.rotation = random.below(4);
  return options;
}

LayoutPair random_pair(Random& random, const RandomOptions& options) {
  const std::vector<Index> shape = random_shape(random);
  const Layout source = random_layout(random, shape, Dtype::i32, options);
  RandomOptions of_target = options;
  switch (random.below(4)) {
    case 0: of_target.mesh = source.mesh(); break;
    case 1: of_target.mesh = moved_up(random_mesh(random), source.mesh().end_rank().value()); break;
    default: break;
  }
  const Layout target = random_layout(random, shape, Dtype::i32, of_target);
  return {source, target, random_plan_options(random)};
}

std::vector<std::string> pair_faults(const LayoutPair& pair, const Layout& middle) {
  Faults faults(pair);
  try {
    const oracle::Side a = oracle::side_of(pair.source), b = oracle::side_of(pair.target), m = oracle::side_of(middle);
    faults.judge_layout(pair.source, a);
    faults.judge_layout(pair.target, b);
    const Plan there = plan(pair.source, pair.target, pair.options);
    faults.judge_plan(there, a, b);
    faults.judge_own_parts(there);
    const oracle::Buffers start = oracle::stamped(a, 5);
    oracle::Buffers direct = oracle::poisoned(b), back = oracle::poisoned(a), half = oracle::poisoned(m),
                    roundabout = oracle::poisoned(b);
    oracle::apply(there, a, b, start, direct);
    oracle::apply(plan(pair.target, pair.source, pair.options), b, a, direct, back);
    oracle::apply(plan(pair.source, middle, pair.options), a, m, start, half);
    oracle::apply(plan(middle, pair.target, pair.options), m, b, half, roundabout);
    if (direct != oracle::stamped(b, 5)) faults.add("there: the target holds other values");
    if (back != start) faults.add("there and back: the source holds other values");
    if (roundabout != direct) faults.add("by way of " + middle.text() + ": the target holds other values");
  } catch (const std::exception& error) {
    faults.add(std::string("exception: ") + error.what());
  }
  return faults.take();
}

LayoutPair shrunk(LayoutPair pair, const std::function<bool(const LayoutPair&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const LayoutPair& candidate : simpler_pairs(pair)) {
      if (!fails(candidate)) continue;
      pair = candidate;
      smaller = true;
      break;
    }
  }
  return pair;
}

}  // namespace reshard
