// Every pair of small layouts, planned and judged against the oracle (layouts.exhaustive).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "property/all_layouts.h"
#include "property/plan_oracle.h"
#include "property/random.h"

namespace reshard {
namespace {

constexpr int parts = 4;

struct Prepared {
  Layout layout;
  oracle::Side side;
};

// Layouts and what the oracle says of them, each found once.
class Shelf {
 public:
  const Prepared& get(const SmallLayout& small, const std::vector<Index>& shape, RankId base) {
    const Layout layout = layout_of(small, shape, base);
    const auto [place, is_new] = prepared_.try_emplace(layout.text(), nullptr);
    if (is_new) {
      place->second = std::make_unique<Prepared>(Prepared{layout, oracle::side_of(layout)});
      for (const std::string& fault : oracle::layout_faults(layout, place->second->side)) ADD_FAILURE() << fault;
    }
    return *place->second;
  }

 private:
  std::map<std::string, std::unique_ptr<Prepared>> prepared_;
};

// Even, one more, prime, smaller than the mesh, and no elements at all.
std::vector<std::vector<Index>> shapes_for(const SmallLayout& a, const SmallLayout& b, int dims) {
  const Index even = std::lcm(a.ranks(), b.ranks());
  const Index few = std::max<Index>(1, std::max(a.ranks(), b.ranks()) - 1);
  std::vector<Index> none = {5, 5, 5};
  none[b.mesh.size() % static_cast<std::size_t>(dims)] = 0;
  std::vector<std::vector<Index>> shapes = {
      {even, 2 * even, even}, {even + 1, 2 * even + 1, even + 1}, {13, 11, 7}, {few, 2, 3}, none};
  for (std::vector<Index>& shape : shapes) shape.resize(static_cast<std::size_t>(dims));
  return shapes;
}

std::string describe(const Plan& plan) { return plan.source().text() + "  ->  " + plan.target().text(); }

// What each rank works out alone is its part of the whole plan.
void expect_own_parts(const Plan& plan) {
  std::map<RankId, std::vector<Transfer>> receives;
  std::map<RankId, std::vector<Transfer>> sends;
  for (const Transfer& t : plan.transfers()) {
    receives[t.target].push_back(t);
    sends[t.source].push_back(t);
  }
  const RankId end = std::max(plan.source().mesh().end_rank(), plan.target().mesh().end_rank());
  for (RankId rank(0); rank <= end; ++rank) {
    ASSERT_EQ(plan_receives(plan.source(), plan.target(), rank, plan.options()), receives[rank])
        << describe(plan) << " rank " << rank.value();
    ASSERT_EQ(plan_sends(plan.source(), plan.target(), rank, plan.options()), sends[rank])
        << describe(plan) << " rank " << rank.value();
  }
}

void expect_right(const Prepared& source, const Prepared& target, const PlanOptions& options) {
  const Plan made = plan(source.layout, target.layout, options);
  for (const Fault& fault : verify(made)) ADD_FAILURE() << describe(made) << ": verify: " << fault.message;
  for (const std::string& fault : oracle::plan_faults(made, source.side, target.side))
    ADD_FAILURE() << describe(made) << ": " << fault;
  expect_own_parts(made);
}

class Exhaustive : public testing::TestWithParam<int> {
 protected:
  // Runs `check` for this part's share of all ordered pairs.
  template <class Check>
  void for_each_pair(int dims, Check check) {
    const std::vector<SmallLayout> all = all_small_layouts(dims);
    int number = 0;
    for (const SmallLayout& a : all)
      for (const SmallLayout& b : all)
        if (number++ % parts == GetParam() && !HasFailure()) check(a, b);
  }
  Shelf shelf_;
  Index plans_ = 0;
  void report(const char* what) {
    RecordProperty("plans", std::to_string(plans_));
    fmt::print("plans verified: {} ({}, part {} of {})\n", plans_, what, GetParam() + 1, parts);
  }
};

TEST(ExhaustiveCounts, LayoutsAreThoseOfTheSpecification) {
  EXPECT_EQ(small_mesh_sizes().size(), 14u);
  EXPECT_EQ(all_small_layouts(1).size(), 57u);
  EXPECT_EQ(all_small_layouts(2).size(), 128u);
  EXPECT_EQ(all_small_layouts(3).size(), 233u);
  const std::vector<std::vector<std::size_t>> counts = {
      {2, 3, 4, 5}, {5, 11, 19, 29}, {16, 49, 106, 193}, {65, 261, 685, 1457}};
  for (int axes = 1; axes <= 4; ++axes)
    for (int dims = 1; dims <= 4; ++dims)
      EXPECT_EQ(all_axis_orders(axes, dims).size(),
                counts[static_cast<std::size_t>(axes - 1)][static_cast<std::size_t>(dims - 1)]);
}

// Nested chunks of every length, all axes of a mesh on one dimension, in every order.
TEST(ExhaustiveChunks, NestOnEveryMesh) {
  Index layouts = 0;
  for (const SmallLayout& small : all_small_layouts(1)) {
    if (small.cuts[0].size() != small.mesh.size()) continue;
    for (Index n = 0; n <= 64; ++n, ++layouts) {
      const Layout l = layout_of(small, {n}, RankId(0));
      for (const std::string& fault : oracle::layout_faults(l, oracle::side_of(l))) ADD_FAILURE() << fault;
    }
  }
  EXPECT_EQ(layouts, (8 + 5 * 2 + 6) * 65);  // meshes of one, two and three axes
}

TEST_P(Exhaustive, EveryPairOfOneDimensionalLayouts) {
  for_each_pair(1, [&](const SmallLayout& a, const SmallLayout& b) {
    for (const std::vector<Index>& shape : shapes_for(a, b, 1)) {
      expect_right(shelf_.get(a, shape, RankId(0)), shelf_.get(b, shape, RankId(0)), {});
      ++plans_;
    }
  });
  report("1-D");
}

TEST_P(Exhaustive, EveryPairOfTwoDimensionalLayouts) {
  for_each_pair(2, [&](const SmallLayout& a, const SmallLayout& b) {
    for (const std::vector<Index>& shape : shapes_for(a, b, 2)) {
      expect_right(shelf_.get(a, shape, RankId(0)), shelf_.get(b, shape, RankId(0)), {});
      ++plans_;
    }
  });
  report("2-D");
}

TEST_P(Exhaustive, EveryPairOfThreeDimensionalLayoutsOnOneMesh) {
  for_each_pair(3, [&](const SmallLayout& a, const SmallLayout& b) {
    if (a.mesh != b.mesh) return;
    for (const std::vector<Index>& shape : shapes_for(a, b, 3)) {
      expect_right(shelf_.get(a, shape, RankId(0)), shelf_.get(b, shape, RankId(0)), {});
      ++plans_;
    }
  });
  report("3-D, one mesh");
}

// Rank sets that do not meet, or meet by half, under every policy: a seeded sample of the pairs.
TEST_P(Exhaustive, SampleOfDisjointAndOverlappingMeshes) {
  Random random(seed_from_environment() + static_cast<unsigned>(GetParam()));
  const std::vector<SmallLayout> all = all_small_layouts(2);
  const auto pick = [&](std::size_t count) {
    return static_cast<std::size_t>(random.below(static_cast<Index>(count)));
  };
  for (int k = 0; k < 1000 && !HasFailure(); ++k) {
    const SmallLayout& a = all[pick(all.size())];
    const SmallLayout& b = all[pick(all.size())];
    const std::vector<Index> shape = shapes_for(a, b, 2)[1 + pick(3)];
    const RankId base(pick(2) == 0 ? 8 : 4);
    PlanOptions options;
    options.policy = std::vector{SenderPolicy::local, SenderPolicy::balanced, SenderPolicy::modulo}[pick(3)];
    options.ranks_per_host = static_cast<Index>(pick(5));
    options.rotation = static_cast<Index>(pick(3));
    const bool swapped = pick(2) == 0;
    expect_right(shelf_.get(a, shape, swapped ? base : RankId(0)), shelf_.get(b, shape, swapped ? RankId(0) : base),
                 options);
    ++plans_;
  }
  report("other rank sets");
}

INSTANTIATE_TEST_SUITE_P(Parts, Exhaustive, testing::Range(0, parts));

}  // namespace
}  // namespace reshard
