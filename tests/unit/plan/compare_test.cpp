// The models of other systems: their steps as written down, their bytes against what an oracle finds element by
// element, and what they refuse.
#include "reshard/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "oracle/ownership.h"
#include "plan/compare/cheapest_route.h"
#include "plan/compare/described.h"
#include "plan/compare/step.h"
#include "property/all_layouts.h"
#include "reshard/error.h"
#include "reshard/notation.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Mover kAll[] = {Mover::direct, Mover::permute_family, Mover::dtensor_graph, Mover::dtensor_greedy,
                          Mover::gather_then_slice};

// "all-gather b (S0,R)" and so on.
std::vector<std::string> steps_of(const MoverCost& cost) {
  std::vector<std::string> steps;
  for (const MoverStep& step : cost.steps)
    steps.push_back(fmt::format("{} {} {}", name_of(step.collective), step.axis, step.placements));
  return steps;
}

Comparison compare(std::string_view source, std::string_view target) {
  return reshard::compare(layout(source), layout(target));
}

TEST(Compare, GreedyGathersAnAxisThatTheAxesBeforeItAreNotReadyFor) {
  const Comparison both = compare("f32[8,8] on (a=2, b=2) {0: a b}", "f32[8,8] on (a=2, b=2) {0: b}");
  EXPECT_EQ(both.source_placements, "(S0,S0)");
  EXPECT_EQ(both.target_placements, "(R,S0)");
  EXPECT_THAT(steps_of(both.of(Mover::dtensor_greedy)),
              ElementsAre("all-gather b (S0,R)", "all-gather a (R,R)", "slice b (R,S0)"));
}

TEST(Compare, GreedyTakesThreeAxesToAnotherDimensionInFiveSteps) {
  const Comparison both =
      compare("f32[8,8,8] on (a=2, b=2, c=2) {0: a b c}", "f32[8,8,8] on (a=2, b=2, c=2) {1: a b c}");
  EXPECT_THAT(steps_of(both.of(Mover::dtensor_greedy)),
              ElementsAre("all-gather c (S0,S0,R)", "all-gather b (S0,R,R)", "all-to-all a (S1,R,R)",
                          "slice b (S1,S1,R)", "slice c (S1,S1,S1)"));
}

TEST(Compare, GreedySlicesAReplicatedSourceFromFirstAxisToLast) {
  const Comparison both = compare("f32[8,8] on (a=2, b=2) {}", "f32[8,8] on (a=2, b=2) {0: a b}");
  EXPECT_THAT(steps_of(both.of(Mover::dtensor_greedy)), ElementsAre("slice a (S0,R)", "slice b (S0,S0)"));
  EXPECT_EQ(both.of(Mover::dtensor_greedy).received, 0);
  EXPECT_THAT(
      steps_of(compare("f32[8,8] on (a=2, b=2) {}", "f32[8,8] on (a=2, b=2) {0: a, 1: b}").of(Mover::dtensor_greedy)),
      ElementsAre("slice a (S0,R)", "slice b (S0,S1)"));
  EXPECT_THAT(
      steps_of(
          compare("f32[8,8] on (a=2, b=2) {0: b}", "f32[8,8] on (a=2, b=2) {0: a, 1: b}").of(Mover::dtensor_greedy)),
      ElementsAre("all-to-all b (R,S1)", "slice a (S0,S1)"));
}

// A quarter of the tensor on each rank, half of the ranks have theirs: greedy moves four times the bound.
TEST(Compare, TwoAxesThatChangePlacesArePermutedOrGathered) {
  const Comparison both = compare("u8[4,4] on (a=2, b=2) {0: a, 1: b}", "u8[4,4] on (a=2, b=2) {0: b, 1: a}");
  EXPECT_EQ(both.needed, 8);
  EXPECT_EQ(both.both_shards, 8);
  EXPECT_THAT(steps_of(both.of(Mover::permute_family)), ElementsAre("permute  (S1,S0)"));
  EXPECT_THAT(both.of(Mover::permute_family).received_by_rank, ElementsAre(0, 4, 4, 0));
  EXPECT_THAT(both.of(Mover::direct).received_by_rank, ElementsAre(0, 4, 4, 0));
  EXPECT_EQ(both.of(Mover::dtensor_greedy).received, 32);
  EXPECT_EQ(both.of(Mover::gather_then_slice).received, 48);
  EXPECT_EQ(both.of(Mover::gather_then_slice).peak, 20);
}

TEST(Compare, MemoryOnTheWayIsInputAndOutputOfAStep) {
  const Comparison both = compare("u8[8] on (a=2, b=2) {0: b}", "u8[8] on (a=2, b=2) {0: a b}");
  EXPECT_EQ(both.both_shards, 6);
  EXPECT_THAT(steps_of(both.of(Mover::dtensor_greedy)),
              ElementsAre("all-gather b (R,R)", "slice a (S0,R)", "slice b (S0,S0)"));
  EXPECT_EQ(both.of(Mover::dtensor_greedy).peak, 12);
  EXPECT_EQ(both.of(Mover::direct).peak, 6);
  EXPECT_EQ(both.of(Mover::permute_family).peak, 6);
}

TEST(Compare, PaddingIsCounted) {
  const Comparison both = compare("f32[5] on (a=4) {0: a}", "f32[5] on (a=4) {}");
  const MoverCost& greedy = both.of(Mover::dtensor_greedy);
  EXPECT_THAT(greedy.received_by_rank, ElementsAre(24, 24, 24, 24));  // three chunks of two
  EXPECT_EQ(both.needed, (3 + 3 + 4 + 5) * 4);
  EXPECT_EQ(greedy.received - greedy.padding, both.needed);
  EXPECT_EQ(greedy.peak, (2 + 8) * 4);
  EXPECT_EQ(both.of(Mover::dtensor_graph).received, greedy.received);
  EXPECT_THAT(both.of(Mover::permute_family).refused, HasSubstr("cuts evenly only"));
}

// Without a permute two axes change places only by way of larger shards.
TEST(Compare, NoRouteLeadsThroughLargerPlacementsThanAllowed) {
  const TensorOnMesh tensor{.shape = {4, 4}, .axes = {{"a", 2}, {"b", 2}}, .element_bytes = 1};
  const Placements source{{{0}, {1}}}, target{{{1}, {0}}};
  const MoveGraph graph(tensor, MoveSet::dtensor), family(tensor, MoveSet::permute_family);
  EXPECT_THROW(graph.from(source, 4).cost(target), Error);
  EXPECT_EQ(graph.from(source, 8).cost(target).received, 32);
  EXPECT_EQ(family.from(source, 4).cost(target).received, 8);
}

// ---- against the oracle ----

// What each rank holds under a layout, as element numbers.
using Held = std::vector<std::vector<bool>>;

Held held_under(const Layout& layout) {
  const auto bits = oracle::owner_bits(oracle::ownership_of(layout));
  Held held(static_cast<std::size_t>(layout.mesh().size()), std::vector<bool>(bits.size()));
  for (std::size_t rank = 0; rank < held.size(); ++rank)
    for (std::size_t element = 0; element < bits.size(); ++element) held[rank][element] = bits[element] >> rank & 1;
  return held;
}

Index missing(const std::vector<bool>& before, const std::vector<bool>& after) {
  Index count = 0;
  for (std::size_t element = 0; element < after.size(); ++element) count += after[element] && !before[element];
  return count;
}

Index missing(const Held& before, const Held& after) {
  Index count = 0;
  for (std::size_t rank = 0; rank < after.size(); ++rank) count += missing(before[rank], after[rank]);
  return count;
}

constexpr Index kFar = Index{1} << 40;

// All ways of one mesh: bytes of the cheapest by relaxing every edge until nothing changes.
class OracleGraph {
 public:
  OracleGraph(const std::vector<Index>& mesh, const std::vector<Index>& shape) {
    for (const AxisOrders& orders : all_axis_orders(static_cast<int>(mesh.size()), static_cast<int>(shape.size()))) {
      orders_.push_back(orders);
      layouts_.push_back(layout_of({mesh, orders}, shape, RankId(0)));
      held_.push_back(held_under(layouts_.back()));
      sizes_.push_back(std::ranges::count(held_.back().front(), true));
    }
  }
  std::size_t size() const { return layouts_.size(); }
  const Layout& at(std::size_t number) const { return layouts_[number]; }

  // From one source to all, through layouts of at most `most` elements per rank.
  std::vector<Index> cheapest(std::size_t source, bool permutes, Index most) const {
    std::vector<Index> cost(size(), kFar);
    cost[source] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t a = 0; a < size(); ++a)
        for (std::size_t b = 0; b < size(); ++b) {
          if (cost[a] == kFar || sizes_[b] > most) continue;
          const Index edge = std::min(collective(a, b), permutes ? permute(a, b) : kFar);
          if (cost[a] + edge >= cost[b]) continue;
          cost[b] = cost[a] + edge;
          changed = true;
        }
    }
    return cost;
  }
  Index elements(std::size_t number) const { return sizes_[number]; }

 private:
  // One axis leaves the end of a list of cuts, comes to the end of one, or both.
  Index collective(std::size_t a, std::size_t b) const {
    std::vector<int> left, came;
    for (std::size_t dim = 0; dim < orders_[a].size(); ++dim) {
      const std::vector<int>&before = orders_[a][dim], &after = orders_[b][dim];
      const auto [x, y] = std::ranges::mismatch(before, after);
      left.insert(left.end(), x, before.end());
      came.insert(came.end(), y, after.end());
    }
    const bool one = left.size() <= 1 && came.size() <= 1 && (left.empty() || came.empty() || left == came);
    return one ? missing(held_[a], held_[b]) : kFar;
  }
  // Shards of the same shape change ranks; who has the wrong one gets a whole one.
  Index permute(std::size_t a, std::size_t b) const {
    const Region before = layouts_[a].region(RankId(0)), after = layouts_[b].region(RankId(0));
    for (std::size_t dim = 0; dim < before.dims.size(); ++dim)
      if (length_of(before.dims[dim]) != length_of(after.dims[dim])) return kFar;
    Index cost = 0;
    for (std::size_t rank = 0; rank < held_[a].size(); ++rank)
      if (held_[a][rank] != held_[b][rank]) cost += sizes_[b];
    return cost;
  }

  std::vector<AxisOrders> orders_;
  std::vector<Layout> layouts_;
  std::vector<Held> held_;
  std::vector<Index> sizes_;
};

void compare_all_with_oracle(const std::vector<Index>& mesh, const std::vector<Index>& shape) {
  const OracleGraph oracle(mesh, shape);
  for (std::size_t a = 0; a < oracle.size(); ++a) {
    const std::vector<Index> cheapest = oracle.cheapest(a, false, kFar);
    std::map<Index, std::vector<Index>> within;  // of the permute family, by elements that a rank may hold
    for (std::size_t b = 0; b < oracle.size(); ++b) {
      SCOPED_TRACE(oracle.at(a).text() + "  ->  " + oracle.at(b).text());
      const Comparison found = reshard::compare(oracle.at(a), oracle.at(b));
      const Index most = std::max(oracle.elements(a), oracle.elements(b));
      EXPECT_EQ(found.of(Mover::dtensor_graph).received, 4 * cheapest[b]);
      if (!within.contains(most)) within[most] = oracle.cheapest(a, true, most);
      EXPECT_EQ(found.of(Mover::permute_family).received, 4 * within[most][b]);
      EXPECT_LE(found.of(Mover::permute_family).peak, 2 * 4 * most);
      const MoverCost& greedy = found.of(Mover::dtensor_greedy);
      if (greedy.refused.empty()) {
        EXPECT_GE(greedy.received, 4 * cheapest[b]);
      }
      EXPECT_EQ(found.of(Mover::direct).received, found.needed);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(CompareExhaustive, TheSearchFindsWhatRelaxingAllEdgesFinds) {
  compare_all_with_oracle({2, 2}, {4, 4});
  compare_all_with_oracle({2, 3}, {6, 6});
  compare_all_with_oracle({4, 2}, {8, 8});
  compare_all_with_oracle({2, 2}, {4, 4, 4});
  compare_all_with_oracle({4}, {4, 4});
}

TEST(CompareExhaustive, OnThreeAxesToo) { compare_all_with_oracle({2, 2, 2}, {8}); }

Layout layout_at(const Layout& like, const std::string& placements) {
  const auto is_digit = [&](std::size_t k) {
    return k < placements.size() && placements[k] >= '0' && placements[k] <= '9';
  };
  std::string spelled;  // S0 as S(0)
  for (std::size_t k = 0; k < placements.size();) {
    spelled += placements[k];
    if (placements[k++] != 'S' || !is_digit(k)) continue;
    spelled += '(';
    while (is_digit(k)) spelled += placements[k++];
    spelled += ')';
  }
  return from_dtensor(like.dtype(), like.shape(), like.mesh(), spelled);
}

// Whatever the sizes: a way starts and ends where it should, and brings each rank what its placements say, and padding.
TEST(CompareExhaustive, EveryStepBringsWhatIsMissing) {
  const std::vector<std::vector<Index>> shapes = {{5, 3}, {4, 4}, {1, 0}, {2, 7}};
  const std::vector<std::vector<Index>> meshes = {{2}, {3}, {2, 2}, {2, 3}, {3, 2}};
  Index checked = 0;
  for (const std::vector<Index>& mesh : meshes)
    for (const std::vector<Index>& shape : shapes) {
      const std::vector<AxisOrders> all = all_axis_orders(static_cast<int>(mesh.size()), 2);
      for (const AxisOrders& from : all)
        for (const AxisOrders& to : all) {
          const Layout source = layout_of({mesh, from}, shape, RankId(0));
          const Layout target = layout_of({mesh, to}, shape, RankId(0));
          const Comparison found = reshard::compare(source, target);
          for (const MoverCost& cost : found.movers) {
            if (!cost.refused.empty()) continue;
            SCOPED_TRACE(fmt::format("{}: {}  ->  {}", name_of(cost.mover), source.text(), target.text()));
            EXPECT_EQ(std::accumulate(cost.received_by_rank.begin(), cost.received_by_rank.end(), Index{0}),
                      cost.received);
            EXPECT_GE(cost.received - cost.padding, found.needed);
            EXPECT_GE(cost.padding, 0);
            if (cost.mover == Mover::direct || cost.mover == Mover::gather_then_slice) continue;
            std::string at = found.source_placements;
            Index received = 0, elements = 0;
            for (const MoverStep& step : cost.steps) {
              const Held before = held_under(layout_at(source, at)),
                         after = held_under(layout_at(source, step.placements));
              elements += missing(before, after);
              received += step.received;
              at = step.placements;
            }
            EXPECT_EQ(at, found.target_placements);
            EXPECT_EQ(received, cost.received);
            if (cost.mover != Mover::permute_family) {
              EXPECT_EQ(4 * elements, cost.received - cost.padding);
            }
            ++checked;
            if (HasFailure()) return;
          }
        }
    }
  EXPECT_GT(checked, 2500);
}

TEST(CompareExhaustive, TheSumOverRanksIsThatOfAllRanks) {
  Index checked = 0;
  for (const std::vector<Index>& shape : {std::vector<Index>{5, 3}, {12, 7}, {1, 0}, {2, 3, 5}})
    for (const std::vector<Axis>& axes :
         {std::vector<Axis>{{"a", 3}}, {{"a", 2}, {"b", 3}}, {{"a", 3}, {"b", 2}, {"c", 2}}}) {
      const TensorOnMesh tensor{.shape = shape, .axes = axes, .element_bytes = 1};
      for (const Placements& placements : all_placements(tensor))
        for (int axis = 0; axis < static_cast<int>(axes.size()); ++axis) {
          const int dim = placements.dim_of(axis);
          if (dim >= 0 && placements.dims[dim].back() != axis) continue;
          for (int to = -1; to < static_cast<int>(shape.size()); ++to) {
            if (to == dim) continue;
            const Step step = step_of(placements, axis, to);
            Index received = 0, buffers = 0;
            for (Index rank = 0; rank < tensor.ranks(); ++rank) {
              const StepCost cost = cost_at(tensor, step, tensor.coordinate_at(rank));
              received += cost.received;
              buffers = std::max(buffers, cost.buffers);
            }
            const StepCost all = cost_over_ranks(tensor, step);
            EXPECT_EQ(all.received, received) << text_of(tensor, step.before) << " -> " << text_of(tensor, step.after);
            EXPECT_EQ(all.buffers, buffers) << text_of(tensor, step.before) << " -> " << text_of(tensor, step.after);
            ++checked;
          }
        }
      EXPECT_EQ(count_placements(tensor, 1 << 20), std::ssize(all_placements(tensor)));
    }
  EXPECT_GT(checked, 500);
}

TEST(CompareExhaustive, PlacementsAreAsManyAsCounted) {
  const std::vector<std::vector<Index>> counts = {
      {2, 3, 4, 5}, {5, 11, 19, 29}, {16, 49, 106, 193}, {65, 261, 685, 1457}};
  for (std::size_t axes = 1; axes <= counts.size(); ++axes)
    for (std::size_t dims = 1; dims <= 4; ++dims) {
      const TensorOnMesh tensor{.shape = std::vector<Index>(dims, 64), .axes = std::vector<Axis>(axes, {"a", 2})};
      EXPECT_EQ(count_placements(tensor, 1 << 20), counts[axes - 1][dims - 1]) << axes << " axes, " << dims;
      EXPECT_EQ(std::ssize(all_placements(tensor)), counts[axes - 1][dims - 1]) << axes << " axes, " << dims;
    }
}

// ---- other meshes, other cuts, odd sizes ----

TEST(Compare, RanksInAnotherOrderReceiveWhatTheirPlacesDid) {
  const std::string cuts = "(a=2, b=3)@[7,2,9,4,0,5]";
  const Comparison rows = compare("u8[6,6] on (a=2, b=3) {0: a, 1: b}", "u8[6,6] on (a=2, b=3) {0: b, 1: a}");
  const Comparison mixed = compare("u8[6,6] on " + cuts + " {0: a, 1: b}", "u8[6,6] on " + cuts + " {0: b, 1: a}");
  const std::vector<Index> place_of_rank = {4, 1, 3, 5, 0, 2};  // of ranks 0, 2, 4, 5, 7, 9
  for (const Mover mover : kAll) {
    EXPECT_EQ(mixed.of(mover).received, rows.of(mover).received) << name_of(mover);
    for (std::size_t rank = 0; rank < place_of_rank.size(); ++rank)
      EXPECT_EQ(mixed.of(mover).received_by_rank[rank],
                rows.of(mover).received_by_rank[static_cast<std::size_t>(place_of_rank[rank])])
          << name_of(mover) << " at rank " << mixed.ranks[rank].value();
  }
}

TEST(Compare, OtherMeshesAreRefusedWithTheReason) {
  for (const char* target : {"f32[8,8] on (a=4)@4 {1: a}", "f32[8,8] on (a=2, b=2) {1: a}",
                             "f32[8,8] on (a=4)@[1,0,2,3] {}", "f32[8,8] on (a=8) {0: a}"}) {
    const Comparison both = compare("f32[8,8] on (a=4) {0: a}", target);
    for (const Mover mover : {Mover::permute_family, Mover::dtensor_graph, Mover::dtensor_greedy}) {
      EXPECT_THAT(both.of(mover).refused, HasSubstr("one mesh only")) << target;
      EXPECT_THAT(both.of(mover).steps, IsEmpty()) << target;
    }
    EXPECT_EQ(both.source_placements, "");
    EXPECT_EQ(both.of(Mover::direct).received, both.needed) << target;
    EXPECT_THAT(both.of(Mover::gather_then_slice).refused, "");
    EXPECT_GE(both.of(Mover::gather_then_slice).received, both.needed) << target;
  }
  // Names do not make another mesh.
  EXPECT_EQ(compare("f32[8] on (a=4) {0: a}", "f32[8] on t(b=4) {}").of(Mover::dtensor_greedy).refused, "");
}

TEST(Compare, AnOrderOfShardsIsForTheGraph) {
  const Comparison both = compare("f32[8] on (a=2, b=2) {0: b a}", "f32[8] on (a=2, b=2) {0: a b}");
  EXPECT_EQ(both.source_placements, "(S0[1],S0[0])");
  EXPECT_THAT(both.of(Mover::dtensor_greedy).refused, HasSubstr("DTensor leaves that to its graph"));
  EXPECT_EQ(both.of(Mover::dtensor_graph).refused, "");
}

TEST(Compare, CutsThatAreNoChunksAreRefusedWhereTheyDiffer) {
  EXPECT_EQ(compare("f32[8] on (a=4) {0: a:balanced}", "f32[8] on (a=4) {}").of(Mover::dtensor_graph).refused, "");
  for (const char* source : {"f32[6] on (a=2, b=2) {0: (a b):balanced}", "f32[12] on (a=2, b=2) {0: a:strided(3)}",
                             "f32[5] on (a=2, b=2) {0: (a b)}", "f32[5] on (a=2, b=2) {0: a, b: at(1)}",
                             "f32[8][0:5] on (a=2, b=2) {0: a}"}) {
    const Layout from = layout(source);
    const Comparison both = reshard::compare(from, layout(fmt::format("f32[{}] on (a=2, b=2) {{}}", from.shape()[0])));
    EXPECT_THAT(both.of(Mover::dtensor_graph).refused, HasSubstr(from.text())) << source;
    EXPECT_EQ(both.of(Mover::direct).received, both.needed) << source;
  }
  EXPECT_EQ(compare("f32[8] on (a=2, b=2) {0: (a b)}", "f32[8] on (a=2, b=2) {}").source_placements, "(S0,S0)");
}

TEST(Compare, PendingSumsAreMovedByPlansOnly) {
  const Comparison both = compare("f32[8] on (a=2) {a: partial(sum)}", "f32[8] on (a=2) {0: a}");
  EXPECT_EQ(both.of(Mover::direct).received, both.needed);
  EXPECT_EQ(both.needed, 2 * 4 * 4);  // each rank lacks the other's terms of its four elements
  for (const Mover mover : kAll) {
    if (mover == Mover::direct) continue;
    EXPECT_THAT(both.of(mover).refused, HasSubstr("pending values are not modelled")) << name_of(mover);
  }
}

TEST(Compare, ASearchThatIsTooLargeIsRefused) {
  const Comparison both = compare("u8[64,64] on (a=2, b=2, c=2, d=2, e=2, f=2) {0: a}",
                                  "u8[64,64] on (a=2, b=2, c=2, d=2, e=2, f=2) {1: a}");
  EXPECT_THAT(both.of(Mover::dtensor_graph).refused, HasSubstr("more than 4096 placements"));
  EXPECT_THAT(both.of(Mover::permute_family).refused, HasSubstr("more than 4096 placements"));
  EXPECT_EQ(both.of(Mover::dtensor_greedy).refused, "");
  EXPECT_THAT(
      describe(layout("u8[4611686018427387904,1] on (a=2) {0: a}"), layout("u8[4611686018427387904,1] on (a=2) {}"))
          .refused,
      HasSubstr("2^63"));
}

TEST(Compare, OddShapes) {
  const Comparison scalar = compare("f32[] on (a=2) {}", "f32[] on (a=2) {}");
  EXPECT_THAT(scalar.of(Mover::dtensor_greedy).steps, IsEmpty());
  EXPECT_EQ(scalar.of(Mover::dtensor_graph).received, 0);
  EXPECT_EQ(scalar.source_placements, "(R)");

  const Comparison none = compare("f32[0,4] on (a=2) {0: a}", "f32[0,4] on (a=2) {1: a}");
  for (const Mover mover : kAll) EXPECT_EQ(none.of(mover).received, 0) << name_of(mover);

  const Comparison alone = compare("f32[3] on () {}", "f32[3] on () {}");
  for (const Mover mover : kAll) EXPECT_EQ(alone.of(mover).received, 0) << name_of(mover);
  EXPECT_EQ(alone.of(Mover::dtensor_greedy).peak, 12);

  // An axis of size 1 cuts nothing.
  const Comparison one = compare("f32[6,2] on (a=2, b=1, c=3) {0: b c}", "f32[6,2] on (a=2, b=1, c=3) {0: a, 1: b}");
  EXPECT_EQ(one.source_placements, "(R,S0)");
  EXPECT_EQ(one.target_placements, "(S0,R)");

  EXPECT_THROW(compare("f32[3] on (a=2) {}", "f32[4] on (a=2) {}"), Error);
}

TEST(PlacementTable, RefusesWhatIsNoMesh) {
  using Axes = std::vector<Index>;
  EXPECT_THROW(compare_placements(Axes{}), Error);
  EXPECT_THROW(compare_placements(Axes{2, 1}), Error);
  EXPECT_THROW(compare_placements(Axes{-2}), Error);
  EXPECT_THROW(compare_placements(Axes{2, 2, 2, 2, 2}), Error);
  EXPECT_THROW(compare_placements(Axes{4096, 2}), Error);
  EXPECT_THROW(compare_placements(Axes{2}, -1, 4), Error);
  EXPECT_THROW(compare_placements(Axes{2}, Index{1} << 62, Index{1} << 62), Error);
}

TEST(PlacementTable, OfSizesThatDoNotDivideHasNoPermuteFamily) {
  const PlacementTable table = compare_placements(std::vector<Index>{2, 2}, 6, 6);
  EXPECT_FALSE(table.permute_family);
  EXPECT_EQ(table.direct.sum, 1);
  EXPECT_GT(table.dtensor_greedy.sum, table.dtensor_graph.sum);
  EXPECT_GT(table.dtensor_graph.sum, 1);
}

// The table adds up what compare() finds for each pair.
TEST(PlacementTable, IsTheSumOfItsPairs) {
  const std::vector<std::string> cuts = {"",           "0: a", "1: a",       "0: b",  "0: a b",
                                         "1: a, 0: b", "1: b", "0: a, 1: b", "1: a b"};
  for (const char* shape : {"6,6", "5,4"}) {
    Index needed = 0, greedy = 0, graph = 0, above = 0;
    for (const std::string& from : cuts)
      for (const std::string& to : cuts) {
        if (from == to) continue;
        const Comparison both = compare(fmt::format("u8[{}] on (a=2, b=3) {{{}}}", shape, from),
                                        fmt::format("u8[{}] on (a=2, b=3) {{{}}}", shape, to));
        needed += both.needed;
        greedy += both.of(Mover::dtensor_greedy).received;
        graph += both.of(Mover::dtensor_graph).received;
        above += both.of(Mover::dtensor_greedy).received > both.needed;
      }
    const PlacementTable table = compare_placements(std::vector<Index>{2, 3}, shape[0] - '0', shape[2] - '0');
    EXPECT_EQ(table.pairs, 72);
    EXPECT_EQ(table.dtensor_greedy.above, above) << shape;
    EXPECT_DOUBLE_EQ(table.dtensor_greedy.sum, static_cast<double>(greedy) / static_cast<double>(needed)) << shape;
    EXPECT_DOUBLE_EQ(table.dtensor_graph.sum, static_cast<double>(graph) / static_cast<double>(needed)) << shape;
  }
}

}  // namespace
}  // namespace reshard
