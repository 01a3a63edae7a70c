// Which copy sends: balance, the optimum, locality, the rules of ETHA and Megatron, rotation.
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

// The least greatest load when every receiver takes its part from one copy, by trying all ways that are not worse
// already. `servers`: the copies that may serve each part.
Index least_greatest_load(const std::vector<Index>& parts, const std::vector<std::vector<Index>>& servers,
                          std::vector<Index>& loads, std::size_t next, Index best) {
  if (next == parts.size()) return std::min(best, *std::ranges::max_element(loads));
  for (const Index server : servers[next]) {
    Index& load = loads[static_cast<std::size_t>(server)];
    if (load + parts[next] >= best) continue;
    load += parts[next];
    best = least_greatest_load(parts, servers, loads, next + 1, best);
    load -= parts[next];
  }
  return best;
}

Index least_greatest_load(const std::vector<Index>& parts, Index copies) {
  std::vector<Index> all(static_cast<std::size_t>(copies)), loads(all.size());
  for (Index k = 0; k < copies; ++k) all[static_cast<std::size_t>(k)] = k;
  return least_greatest_load(parts, std::vector<std::vector<Index>>(parts.size(), all), loads, 0,
                             std::numeric_limits<Index>::max());
}

Index greatest(const Loads& loads) {
  Index greatest = 0;
  for (const auto& [rank, load] : loads) greatest = std::max(greatest, load);
  return greatest;
}

// One tensor on `copies` ranks, all of it wanted in parts of given sizes by the ranks after them.
Layout whole(Index elements, Index copies) { return layout(fmt::format("u8[{}] on (r={})", elements, copies)); }
Layout in_parts(const std::vector<Index>& sizes, Index elements, Index copies) {
  LayoutSpec spec;
  spec.shape = {elements};
  spec.dtype = Dtype::u8;
  spec.mesh = Mesh("", {{"t", std::ssize(sizes)}}, RankId(copies));
  Cut cut;
  cut.axes = {0};
  cut.rule = Rule::sizes;
  cut.sizes = sizes;
  spec.cuts = {{cut}};
  return Layout(spec);
}

// The optimum is what trying finds; in every order of up to 6 receivers, and in two of 7, `balanced` is within one part
// of it.
void judge(std::vector<Index> sizes, Index& plans) {
  Index elements = 0;
  for (const Index size : sizes) elements += size;
  std::ranges::sort(sizes);
  const Index largest = sizes.back();
  for (Index copies = 1; copies <= 4; ++copies) {
    const Index optimum = least_greatest_load(sizes, copies);
    const Layout source = whole(elements, copies);
    EXPECT_EQ(greatest(loads_of(plan(source, in_parts(sizes, elements, copies), {.policy = SenderPolicy::optimal}))),
              optimum);
    const auto judge_order = [&] {
      const Plan p = plan(source, in_parts(sizes, elements, copies), {.policy = SenderPolicy::balanced});
      EXPECT_LE(greatest(loads_of(p)), optimum + largest) << p.text();
      ++plans;
    };
    if (sizes.size() < 7) {
      do judge_order();
      while (std::ranges::next_permutation(sizes).found && !testing::Test::HasFailure());
    } else {
      judge_order();
      std::ranges::reverse(sizes);
      judge_order();
      std::ranges::reverse(sizes);
    }
  }
}

void judge_all(std::vector<Index>& sizes, std::size_t most, Index& plans) {
  if (!sizes.empty()) judge(sizes, plans);
  if (sizes.size() == most || testing::Test::HasFailure()) return;
  for (Index size = sizes.empty() ? 4 : sizes.back(); size >= 0; --size) {
    sizes.push_back(size);
    judge_all(sizes, most, plans);
    sizes.pop_back();
  }
}

TEST(Optimal, JudgesBalanced) {
  std::vector<Index> sizes;
  Index plans = 0;
  judge_all(sizes, 7, plans);
  fmt::print("plans by balanced within one part of the optimum: {}\n", plans);
}

// Copies that may serve a receiver: those nearest to it, as far as hosts and racks are known.
std::vector<Index> nearest(std::uint64_t copies, Index receiver, const PlanOptions& options) {
  std::vector<Index> near;
  for (const Index ranks : {options.ranks_per_host, options.ranks_per_rack, Index{64}}) {
    for (Index rank = 0; ranks > 0 && rank < 64; ++rank)
      if ((copies >> rank & 1) != 0 && rank / ranks == receiver / ranks) near.push_back(rank);
    if (!near.empty()) break;
  }
  return near;
}

TEST(Optimal, IsTheLeastOfAllWaysAmongTheNearest) {
  Random random(seed_from_environment() + 3);
  Index shards = 0, shared = 0;
  for (int k = 0; k < 1500 && !HasFailure(); ++k) {
    const std::vector<Index> shape = {random.between(1, 24), random.between(1, 8)};
    const Layout source = small_layout(random, shape, RankId(random.below(4)));
    const Layout target = small_layout(random, shape, RankId(random.below(12)));
    const Index host = random.below(4);
    const PlanOptions options{.policy = SenderPolicy::optimal,
                              .ranks_per_host = host,
                              .ranks_per_rack = random.below(4) * std::max<Index>(host, 2),
                              .rotation = random.below(3)};
    const Plan p = plan(source, target, options);
    Loads loads = loads_of(p);
    for (const auto& [copies, receivers] : parts_by_copies(oracle::side_of(source), oracle::side_of(target))) {
      std::vector<Index> parts, none(64);
      std::vector<std::vector<Index>> servers;
      for (const auto& [rank, part] : receivers) {
        parts.push_back(part);
        servers.push_back(nearest(copies, rank, options));
        if (servers.back().size() < static_cast<std::size_t>(std::popcount(copies))) ++shared;
      }
      Index most = 0;
      for (Index rank = 0; rank < 64; ++rank)
        if ((copies >> rank & 1) != 0) most = std::max(most, loads[rank]);
      EXPECT_EQ(most, least_greatest_load(parts, servers, none, 0, std::numeric_limits<Index>::max()))
          << source.text() << "  ->  " << target.text() << " host " << host << " rack " << options.ranks_per_rack;
      ++shards;
    }
  }
  EXPECT_GT(shards, 1000);
  EXPECT_GT(shared, 500);
}

TEST(Optimal, RefusesWhatItCannotDecide) {
  Random random(seed_from_environment() + 4);
  std::vector<Index> sizes;
  Index elements = 0;
  for (Index k = 0; k < 40; ++k) elements += sizes.emplace_back(1000000 + 7919 * k + random.below(7919));
  try {
    plan(whole(elements, 3), in_parts(sizes, elements, 3), {.policy = SenderPolicy::optimal});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported);
    EXPECT_NE(std::string(error.what()).find("unknown for 40 receivers with parts of 40 sizes"), std::string::npos)
        << error.what();
  }
}

// Sources, and the sender that Megatron's rule finds, by the rule as it is written: candidates in rank order, in one
// bucket per data-parallel group, buckets by their groups.
RankId by_the_rule(const Layout& source, RankId target) {
  const auto& axes = source.mesh().axes();
  const auto& kinds = source.spec().kinds;
  std::size_t data_parallel = 0;
  while (axes[data_parallel].size == 1 || kinds[data_parallel].kind != AxisKind::Kind::replicate) ++data_parallel;
  std::vector<RankId> candidates;
  std::map<std::vector<RankId>, std::vector<RankId>> buckets;
  for (RankId rank(0); rank < RankId(64); ++rank) {
    const auto place = source.mesh().coordinate_of(rank);
    if (!place || !source.region_at(*place).held) continue;
    std::vector<RankId> group;
    for (Coordinate other = *place; std::ssize(group) < axes[data_parallel].size;) {
      other[data_parallel] = std::ssize(group);
      group.push_back(source.mesh().rank_at(other));
    }
    std::ranges::sort(group);
    candidates.push_back(rank);
    buckets[group].push_back(rank);
  }
  if (std::ranges::find(candidates, target) != candidates.end()) return target;
  if (buckets.size() == 1) return buckets.begin()->second.front();
  const Index count = std::ssize(buckets);
  const std::vector<RankId>& bucket = std::next(buckets.begin(), target.value() % count)->second;
  return bucket[static_cast<std::size_t>(target.value() / count % std::ssize(bucket))];
}

// The same ranks in another order.
Layout shuffled(Random& random, const Layout& given) {
  LayoutSpec spec = given.spec();
  std::vector<RankId> ranks;
  for (Index k = 0; k < spec.mesh.size(); ++k) ranks.push_back(spec.mesh.rank_at_ordinal(k));
  random.shuffle(ranks);
  spec.mesh = Mesh::listed("", spec.mesh.axes(), ranks);
  return Layout(spec);
}

// All of a tensor comes from ranks that share the candidate's place along replicated axes.
TEST(Megatron, FollowsTheRule) {
  Random random(seed_from_environment() + 5);
  int remote = 0;
  for (int k = 0; k < 3000 && !HasFailure(); ++k) {
    const std::vector<Index> shape = {random.between(1, 16), random.between(1, 4)};
    Layout source = small_layout(random, shape, RankId(random.below(8)));
    if (random.one_in(2)) source = shuffled(random, source);
    const Layout target = small_layout(random, shape, RankId(random.below(40)));
    const auto& kinds = source.spec().kinds;
    bool has_copies = false;
    for (std::size_t axis = 0; axis < kinds.size(); ++axis)
      has_copies |= kinds[axis].kind == AxisKind::Kind::replicate && source.mesh().axes()[axis].size > 1;
    const Plan p = plan(source, target, {.policy = SenderPolicy::megatron, .ranks_per_host = 2, .rotation = 1});
    EXPECT_TRUE(verify(p).empty()) << source.text() << "  ->  " << target.text();
    for (const Transfer& t : p.transfers()) {
      if (t.is_local() || !has_copies) continue;
      const Coordinate chosen = *source.mesh().coordinate_of(by_the_rule(source, t.target));
      const Coordinate sender = *source.mesh().coordinate_of(t.source);
      for (std::size_t axis = 0; axis < kinds.size(); ++axis) {
        if (kinds[axis].kind != AxisKind::Kind::replicate) continue;
        EXPECT_EQ(sender[axis], chosen[axis]) << source.text() << "  ->  " << target.text() << "\n" << p.text();
        ++remote;
      }
    }
  }
  EXPECT_GT(remote, 3000);
}

std::vector<Index> senders(const Plan& p) {
  std::vector<Index> ranks;
  for (const Transfer& t : p.transfers()) ranks.push_back(t.source.value());
  return ranks;
}

// Tensor parallel 2, data parallel 2: targets 4 to 7 take ranks 0 1, 0 1, 2 3, 2 3.
TEST(Megatron, TensorParallelRanksOfOneCopyServeTogether) {
  const Plan p =
      plan(layout("f32[8] on (dp=2, tp=2) {0: tp}"), layout("f32[8] on (dp=4)@4"), {.policy = SenderPolicy::megatron});
  EXPECT_EQ(senders(p), (std::vector<Index>{0, 1, 0, 1, 2, 3, 2, 3}));
}

// A tensor that tensor parallelism replicates too: rank 4 takes bucket 0 and its entry 0, rank 5 bucket 1, ..
TEST(Megatron, BucketsAreDataParallelGroups) {
  const Plan p =
      plan(layout("f32[8] on (dp=2, tp=2)"), layout("f32[8] on (dp=4)@4"), {.policy = SenderPolicy::megatron});
  EXPECT_EQ(senders(p), (std::vector<Index>{0, 1, 2, 3}));
}

TEST(Megatron, ATargetThatHoldsAPartTakesTheRestFromItsOwnCopy) {
  const Plan p =
      plan(layout("f32[8] on (dp=2, tp=2) {0: tp}"), layout("f32[8] on (r=4)"), {.policy = SenderPolicy::megatron});
  EXPECT_EQ(senders(p), (std::vector<Index>{0, 1, 0, 1, 2, 3, 2, 3}));
}

// The four cases in which Megatron's rule is observed: elements that each source rank sends, by its rule and by ours.
struct Case {
  const char* source;
  const char* target;
  std::vector<Index> copies;  // targets that each copy serves by Megatron's rule
  Index fair = 0;             // and each by ours
};
const std::vector<Case> kObserved = {{"f32[64] on (dp=4)", "f32[64] on (dp=8)@4", {8, 0, 0, 0}, 2},
                                     {"f32[64] on (dp=4, tp=2) {0: tp}", "f32[64] on (dp=8)@8", {2, 2, 2, 2}, 2},
                                     {"f32[64] on (dp=4, tp=8) {0: tp}", "f32[64] on (dp=8)@32", {8, 0, 0, 0}, 2},
                                     {"f32[64] on (dp=4, tp=8) {0: tp}", "f32[64] on (dp=16)@32", {8, 8, 0, 0}, 4}};

TEST(Megatron, LeavesCopiesIdleWhereObserved) {
  for (const Case& c : kObserved) {
    const Layout source = layout(c.source);
    Loads loads = loads_of(plan(source, layout(c.target), {.policy = SenderPolicy::megatron}));
    const Index shards = source.mesh().size() / 4;
    for (Index rank = 0; rank < source.mesh().size(); ++rank)
      EXPECT_EQ(loads[rank], c.copies[static_cast<std::size_t>(rank / shards)] * 64 / shards)
          << c.source << "  ->  " << c.target << " rank " << rank;
  }
}

TEST(Balanced, UsesEveryCopyWhereMegatronDoesNot) {
  for (const Case& c : kObserved)
    for (const SenderPolicy policy : {SenderPolicy::local, SenderPolicy::balanced, SenderPolicy::optimal}) {
      const Layout source = layout(c.source);
      const Plan p = plan(source, layout(c.target), {.policy = policy});
      EXPECT_DOUBLE_EQ(p.certificate().imbalance_out, 1.0) << c.source << "  ->  " << c.target;
      Loads loads = loads_of(p);
      for (Index rank = 0; rank < source.mesh().size(); ++rank)
        EXPECT_EQ(loads[rank], c.fair * 64 / (source.mesh().size() / 4)) << c.source << "  ->  " << c.target;
    }
}

// Every element that travels does so within a host if a copy lies there, or else within a rack.
TEST(Local, PrefersACopyOnTheHostThenInTheRack) {
  Random random(seed_from_environment() + 2);
  int on_host = 0, in_rack = 0;
  for (int k = 0; k < 2000 && !HasFailure(); ++k) {
    const std::vector<Index> shape = {random.between(1, 16), random.between(1, 4)};
    const Layout source = small_layout(random, shape, RankId(random.below(8)));
    const Layout target = small_layout(random, shape, RankId(random.below(8)));
    const Index host = random.between(1, 5), rack = random.between(1, 3) * host;
    const PlanOptions options{.policy = SenderPolicy::local, .ranks_per_host = host, .ranks_per_rack = rack};
    const Plan p = plan(source, target, options);
    const oracle::Side from = oracle::side_of(source);
    for (const Transfer& t : p.transfers()) {
      if (t.is_local() || t.elements() == 0) continue;
      // The copies of a transfer are those of its first element.
      std::vector<Index> index;
      for (std::size_t d = 0; d < t.dims.size(); ++d)
        index.push_back(from.ownership.parts.at(t.source.value())
                            .logical[d][static_cast<std::size_t>(t.dims[d][0].source.value())]);
      const std::uint64_t copies = from.owners[static_cast<std::size_t>(oracle::linear_index(index, shape))];
      const std::vector<Index> near = nearest(copies, t.target.value(), options);
      EXPECT_NE(std::ranges::find(near, t.source.value()), near.end())
          << source.text() << "  ->  " << target.text() << " host " << host << " rack " << rack;
      if (near.front() / host == t.target.value() / host)
        ++on_host;
      else if (near.front() / rack == t.target.value() / rack)
        ++in_rack;
    }
  }
  EXPECT_GT(on_host, 500);
  EXPECT_GT(in_rack, 100);
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
  for (const SenderPolicy policy : all_sender_policies()) {
    if (policy == SenderPolicy::megatron) continue;  // the same for all tensors
    std::set<Index> used;
    for (Index rotation = 0; rotation < 4; ++rotation)
      for (const Index s : senders(plan(copies, target, {.policy = policy, .rotation = rotation}))) used.insert(s);
    EXPECT_EQ(used.size(), 4u) << name_of(policy);
  }
}

TEST(Policies, NeverMoveWhatIsThere) {
  const Layout both = layout("f32[8] on (r=4)");
  for (const SenderPolicy policy : all_sender_policies()) {
    const Plan p = plan(both, both, {.policy = policy, .rotation = 1});
    EXPECT_EQ(p.certificate().sent, 0) << name_of(policy);
    EXPECT_EQ(p.certificate().copied, 4 * 8 * 4);
  }
}

}  // namespace
}  // namespace reshard
