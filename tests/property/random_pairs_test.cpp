// Moves between random layouts of every kind, judged in every way there is (plan.random). RESHARD_RANDOM_PAIRS sets how
// many, RESHARD_SEED which. A fault is shown on the least pair that has it, and so is the seed.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "property/layout_pair.h"
#include "property/plan_oracle.h"

namespace reshard {
namespace {

constexpr int parts = 4;

#ifdef __SANITIZE_ADDRESS__
constexpr Index usual_pairs = 1'000;
#else
constexpr Index usual_pairs = 10'000;
#endif

Index pairs_from_environment() {
  const char* given = std::getenv("RESHARD_RANDOM_PAIRS");
  return given != nullptr ? std::strtoll(given, nullptr, 10) : usual_pairs;
}

Layout middle_for(const LayoutPair& pair, unsigned seed) {
  Random random(seed);
  return random_layout(random, pair.source.shape(), pair.source.dtype());
}

std::string judgement(const LayoutPair& pair, unsigned seed) {
  return fmt::format("{}", fmt::join(pair_faults(pair, middle_for(pair, seed)), "\n  "));
}

class RandomPairs : public testing::TestWithParam<int> {};

TEST_P(RandomPairs, AreMovedRight) {
  const unsigned seed = seed_from_environment();
  const Index pairs = pairs_from_environment();
  Index judged = 0;
  for (Index k = GetParam(); k < pairs && !HasFailure(); k += parts) {
    const unsigned own_seed = seed + static_cast<unsigned>(k);  // a pair alone repeats without those before it
    Random random(own_seed);
    const LayoutPair pair = random_pair(random);
    ++judged;
    if (judgement(pair, own_seed).empty()) continue;
    const auto fails = [&](const LayoutPair& candidate) { return !judgement(candidate, own_seed).empty(); };
    const LayoutPair least = shrunk(pair, fails);
    ADD_FAILURE() << "RESHARD_SEED=" << own_seed << " RESHARD_RANDOM_PAIRS=1 repeats it: " << pair.text()
                  << "\nthe least pair that fails: " << least.text() << "\n  " << judgement(least, own_seed);
  }
  RecordProperty("pairs", std::to_string(judged));
  fmt::print("random pairs without a fault: {} (part {} of {})\n", judged - (HasFailure() ? 1 : 0), GetParam() + 1,
             parts);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomPairs, testing::Range(0, parts));

// All kinds of layouts and all relations of two meshes come up.
TEST(RandomPair, TakesEveryForm) {
  Random random(seed_from_environment());
  std::set<std::string> forms;
  for (int k = 0; k < 4000; ++k) {
    const LayoutPair pair = random_pair(random);
    std::set<RankId> ranks;
    for (Index o = 0; o < pair.source.mesh().size(); ++o) ranks.insert(pair.source.mesh().rank_at_ordinal(o));
    Index common = 0;
    for (const RankId rank : ranks) common += pair.target.mesh().contains(rank) ? 1 : 0;
    const Index most = std::max(pair.source.mesh().size(), pair.target.mesh().size());
    forms.insert(common == 0 ? "disjoint" : common == most ? "equal" : "overlapping");
    ASSERT_LT(std::max(pair.source.mesh().end_rank(), pair.target.mesh().end_rank()), RankId(65));
    const LayoutSpec& spec = pair.source.spec();
    if (pair.source.dims() == 0) forms.insert("0-d");
    if (pair.source.elements() == 0) forms.insert("empty");
    if (pair.source.is_view()) forms.insert("view");
    if (pair.source.dims() < static_cast<int>(spec.shape.size())) forms.insert("dropped dimension");
    if (!spec.storage.order.empty()) forms.insert("order");
    if (!spec.storage.strides.empty()) forms.insert("strides");
    if (!spec.mesh.is_regular()) forms.insert("list");
    if (!spec.mesh.groups().empty()) forms.insert("sub-axes");
    for (const AxisKind& kind : spec.kinds)
      if (kind.kind == AxisKind::Kind::at) forms.insert("at");
    for (const std::vector<Cut>& cuts : spec.cuts) {
      if (cuts.size() > 1) forms.insert("nested");
      for (const Cut& cut : cuts) {
        if (cut.axes.size() > 1) forms.insert("flat");
        if (cut.unit > 1) forms.insert("units");
        if (!cut.piece_units.empty()) forms.insert("units of parts");
        if (cut.rule == Rule::window && cut.block > 0) forms.insert("padding");
        forms.insert(fmt::format("pieces {}", static_cast<int>(cut.pieces)));
        forms.insert(fmt::format("rule {}", static_cast<int>(cut.rule)));
      }
    }
    for (Index rank = 0; rank < pair.source.mesh().end_rank().value(); ++rank)
      if (pair.source.region(RankId(rank)).held && pair.source.region(RankId(rank)).elements() == 0)
        forms.insert("empty shard");
  }
  EXPECT_EQ(forms.size(), 3u + 15u + 5u + 8u) << fmt::format("{}", fmt::join(forms, ", "));
}

// Faults put in on purpose: what is left of a pair is what the fault needs.
bool has_cyclic_source(const LayoutPair& pair) {
  for (const std::vector<Cut>& cuts : pair.source.spec().cuts)
    for (const Cut& cut : cuts)
      if (cut.rule == Rule::cyclic) return true;
  return false;
}

// A planner that forgets the last transfer when the source is dealt in blocks.
bool forgetful_planner_fails(const LayoutPair& pair) {
  const Plan right = plan(pair.source, pair.target, pair.options);
  std::vector<Transfer> transfers(right.transfers().begin(), right.transfers().end());
  if (has_cyclic_source(pair) && !transfers.empty()) transfers.pop_back();
  return !verify(Plan(pair.source, pair.target, pair.options, transfers)).empty();
}

// A planner that writes one element too early where a rank gets its part in more than one run.
bool shifting_planner_fails(const LayoutPair& pair) {
  const Plan right = plan(pair.source, pair.target, pair.options);
  std::vector<Transfer> transfers(right.transfers().begin(), right.transfers().end());
  for (Transfer& transfer : transfers)
    for (std::vector<Span>& spans : transfer.dims)
      if (spans.size() > 1) spans.back().target += -1;
  const Plan wrong(pair.source, pair.target, pair.options, transfers);
  return !oracle::plan_faults(wrong, oracle::side_of(pair.source), oracle::side_of(pair.target)).empty();
}

// The least pairs that are left of `count` random ones that fail.
std::vector<LayoutPair> least_pairs(bool (*fails)(const LayoutPair&), int count) {
  Random random(seed_from_environment());
  std::vector<LayoutPair> least;
  while (count > 0) {
    const LayoutPair pair = random_pair(random);
    if (!fails(pair)) continue;
    const LayoutPair left = shrunk(pair, fails);
    EXPECT_TRUE(fails(left)) << left.text();
    for (const LayoutPair& simpler : simpler_pairs(left)) EXPECT_FALSE(fails(simpler)) << simpler.text();
    least.push_back(left);
    --count;
  }
  return least;
}

TEST(Shrinking, LeavesOneElementForAForgottenTransfer) {
  // An entry of a 1-D tensor is a tensor without dimensions: that, too, has nothing to take away.
  std::set<std::string> texts;
  for (const LayoutPair& least : least_pairs(forgetful_planner_fails, 40)) texts.insert(least.text());
  EXPECT_THAT(texts, testing::IsSubsetOf({"i32[1] on (a=1) {0: a:cyclic(1)}  ->  i32[1] on ()"
                                          "  (local, ranks_per_host 0, ranks_per_rack 0, rotation 0)",
                                          "i32[1][0] on (a=1) {0: a:cyclic(1)}  ->  i32[] on ()"
                                          "  (local, ranks_per_host 0, ranks_per_rack 0, rotation 0)"}));
}

// Two runs need a few elements, and packed pieces one for each rank; nothing else is left.
TEST(Shrinking, LeavesTwoRunsForAShiftedOne) {
  for (const LayoutPair& least : least_pairs(shifting_planner_fails, 40)) {
    EXPECT_EQ(least.source.dims(), 1) << least.text();
    EXPECT_LE(least.source.elements(), 12) << least.text();
    EXPECT_LE(std::max(least.source.mesh().size(), least.target.mesh().size()), 6) << least.text();
    EXPECT_EQ(std::min(least.source.mesh().size(), least.target.mesh().size()), 1) << least.text();
    EXPECT_EQ(least.options, PlanOptions{}) << least.text();
    for (const Layout* side : {&least.source, &least.target}) {
      EXPECT_EQ(side->spec().storage, StorageOrder{}) << least.text();
      EXPECT_EQ(side->mesh().first_rank(), RankId(0)) << least.text();
    }
  }
}

// A simpler pair is a pair: of one shape, and not the one it comes from.
TEST(Shrinking, OffersPairsThatCanBePlanned) {
  Random random(seed_from_environment() + 1);
  for (int k = 0; k < 100; ++k) {
    const LayoutPair pair = random_pair(random);
    for (const LayoutPair& simpler : simpler_pairs(pair)) {
      ASSERT_EQ(simpler.source.shape(), simpler.target.shape()) << simpler.text();
      ASSERT_NE(simpler.text(), pair.text());
      ASSERT_LE(simpler.source.dims(), pair.source.dims()) << simpler.text();
      ASSERT_LE(simpler.source.mesh().size(), pair.source.mesh().size()) << simpler.text();
    }
  }
}

}  // namespace
}  // namespace reshard
