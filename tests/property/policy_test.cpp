// Which copy sends: balance, locality, the modulo rule, rotation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "property/all_layouts.h"
#include "property/plan_oracle.h"
#include "property/random.h"

namespace reshard {
namespace {

using Loads = std::map<Index, Index>;

// Elements that each rank sends to others.
Loads loads_of(const Plan& p) {
  Loads loads;
  for (const Transfer& t : p.transfers())
    if (!t.is_local()) loads[t.source.value()] += t.elements();
  return loads;
}

// The parts in which each target rank receives from one set of equal copies, by that set of ranks.
using Parts = std::map<std::uint64_t, std::map<Index, Index>>;
Parts parts_by_copies(const oracle::Side& source, const oracle::Side& target) {
  Parts parts;
  for (std::size_t e = 0; e < target.owners.size(); ++e)
    for (Index rank = 0; rank < 64; ++rank)
      if ((target.owners[e] >> rank & 1) != 0 && (source.owners[e] >> rank & 1) == 0) ++parts[source.owners[e]][rank];
  return parts;
}

Layout small_layout(Random& random, const std::vector<Index>& shape, RankId base) {
  static const std::vector<SmallLayout> all = all_small_layouts(2);
  return layout_of(random.among(all), shape, base);
}

TEST(Balanced, NoCopySendsMoreThanItsFairShareAndOnePart) {
  Random random(seed_from_environment());
  for (int k = 0; k < 3000 && !HasFailure(); ++k) {
    const std::vector<Index> shape = {random.between(1, 24), random.between(1, 8)};
    const Layout source = small_layout(random, shape, RankId(0));
    const Layout target = small_layout(random, shape, RankId(8));
    const Plan p = plan(source, target, {.policy = SenderPolicy::balanced, .rotation = random.below(3)});
    const Parts parts = parts_by_copies(oracle::side_of(source), oracle::side_of(target));
    Loads loads = loads_of(p);
    for (const auto& [copies, receivers] : parts) {
      const Index count = std::popcount(copies);
      Index total = 0, greatest = 0;
      for (const auto& [rank, part] : receivers) total += part, greatest = std::max(greatest, part);
      for (Index rank = 0; rank < 64; ++rank) {
        const Index load = (copies >> rank & 1) != 0 ? loads[rank] : 0;
        EXPECT_LE(load * count, total + greatest * count)
            << source.text() << "  ->  " << target.text() << " rank " << rank;
      }
    }
  }
}

// The least greatest load when every receiver takes its part from one copy, by trying all ways.
Index least_greatest_load(const std::vector<Index>& parts, std::vector<Index>& loads, std::size_t next) {
  if (next == parts.size()) return *std::ranges::max_element(loads);
  Index best = std::numeric_limits<Index>::max();
  for (Index& load : loads) {
    load += parts[next];
    best = std::min(best, least_greatest_load(parts, loads, next + 1));
    load -= parts[next];
  }
  return best;
}

TEST(Balanced, IsWithinOnePartOfTheOptimum) {
  Random random(seed_from_environment() + 1);
  for (int k = 0; k < 300 && !HasFailure(); ++k) {
    const Index copies = random.between(1, 4), receivers = random.between(1, 6);
    std::vector<Index> sizes;
    for (Index r = 0; r < receivers; ++r) sizes.push_back(random.between(0, 9));
    Index n = 0;
    for (const Index size : sizes) n += size;
    LayoutSpec spec;
    spec.shape = {n};
    spec.mesh = Mesh("", {{"t", receivers}}, RankId(copies));
    Cut cut;
    cut.axes = {0};
    cut.rule = Rule::sizes;
    cut.sizes = sizes;
    spec.cuts = {{cut}};
    const Plan p =
        plan(layout(fmt::format("f32[{}] on (r={})", n, copies)), Layout(spec), {.policy = SenderPolicy::balanced});
    std::vector<Index> loads(static_cast<std::size_t>(copies), 0);
    const Index optimum = least_greatest_load(sizes, loads, 0);
    for (const auto& [rank, load] : loads_of(p))
      EXPECT_LE(load, optimum + *std::ranges::max_element(sizes)) << p.text();
  }
}

// The four cases in which Megatron's rule leaves copies idle (its section 3).
TEST(Balanced, UsesEveryCopyWhereMegatronDoesNot) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"f32[64] on (dp=4)", "f32[64] on (dp=8)@4"},
      {"f32[64] on (dp=4, tp=2) {0: tp}", "f32[64] on (dp=8)@8"},
      {"f32[64] on (dp=4, tp=8) {0: tp}", "f32[64] on (dp=8)@32"},
      {"f32[64] on (dp=4, tp=8) {0: tp}", "f32[64] on (dp=16)@32"}};
  for (const auto& [source, target] : cases) {
    const Plan p = plan(layout(source), layout(target), {.policy = SenderPolicy::balanced});
    EXPECT_DOUBLE_EQ(p.certificate().imbalance_out, 1.0) << source << "  ->  " << target;
    EXPECT_EQ(static_cast<Index>(loads_of(p).size()), layout(source).mesh().size()) << source;
  }
}

// Every element that travels does so within a host if a copy lies there.
TEST(Local, PrefersACopyOnTheHost) {
  Random random(seed_from_environment() + 2);
  int within = 0;
  for (int k = 0; k < 2000 && !HasFailure(); ++k) {
    const std::vector<Index> shape = {random.between(1, 16), random.between(1, 4)};
    const Layout source = small_layout(random, shape, RankId(random.below(8)));
    const Layout target = small_layout(random, shape, RankId(random.below(8)));
    const Index host = random.between(1, 5);
    const Plan p = plan(source, target, {.policy = SenderPolicy::local, .ranks_per_host = host});
    const oracle::Side from = oracle::side_of(source);
    for (const Transfer& t : p.transfers()) {
      if (t.is_local() || t.elements() == 0) continue;
      // The copies of a transfer are those of its first element.
      std::vector<Index> index;
      for (std::size_t d = 0; d < t.dims.size(); ++d)
        index.push_back(from.ownership.parts.at(t.source.value())
                            .logical[d][static_cast<std::size_t>(t.dims[d][0].source.value())]);
      const std::uint64_t copies = from.owners[static_cast<std::size_t>(oracle::linear_index(index, shape))];
      bool any_on_host = false;
      for (Index r = 0; r < 64; ++r) any_on_host |= (copies >> r & 1) != 0 && r / host == t.target.value() / host;
      if (!any_on_host) continue;
      EXPECT_EQ(t.source.value() / host, t.target.value() / host)
          << source.text() << "  ->  " << target.text() << " host " << host;
      ++within;
    }
  }
  EXPECT_GT(within, 500);
}

std::vector<Index> senders(const Plan& p) {
  std::vector<Index> ranks;
  for (const Transfer& t : p.transfers()) ranks.push_back(t.source.value());
  return ranks;
}

TEST(Modulo, TakesTheTargetsNumber) {
  const Layout copies = layout("f32[8] on (r=3)");
  const Layout target = layout("f32[8] on (t=8)@10 {0: t}");
  EXPECT_EQ(senders(plan(copies, target, {.policy = SenderPolicy::modulo})),
            (std::vector<Index>{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(senders(plan(copies, target, {.policy = SenderPolicy::modulo, .rotation = 1})),
            (std::vector<Index>{1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(Rotation, SpreadsManySmallTensors) {
  const Layout copies = layout("f32[8] on (r=4)");
  const Layout target = layout("f32[8] on (only=1)@4");
  for (const SenderPolicy policy : {SenderPolicy::local, SenderPolicy::balanced, SenderPolicy::modulo}) {
    std::set<Index> used;
    for (Index rotation = 0; rotation < 4; ++rotation)
      for (const Index s : senders(plan(copies, target, {.policy = policy, .rotation = rotation}))) used.insert(s);
    EXPECT_EQ(used.size(), 4u) << name_of(policy);
  }
}

TEST(Policies, NeverMoveWhatIsThere) {
  const Layout both = layout("f32[8] on (r=4)");
  for (const SenderPolicy policy : {SenderPolicy::local, SenderPolicy::balanced, SenderPolicy::modulo}) {
    const Plan p = plan(both, both, {.policy = policy, .rotation = 1});
    EXPECT_EQ(p.certificate().sent, 0) << name_of(policy);
    EXPECT_EQ(p.certificate().copied, 4 * 8 * 4);
  }
}

}  // namespace
}  // namespace reshard
