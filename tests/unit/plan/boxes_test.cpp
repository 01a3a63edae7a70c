// Box lists: checked, planned element by element, and looked up without comparing all pairs.
#include "reshard/boxes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "oracle/ownership.h"
#include "property/random_layout.h"
#include "reshard/error.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Sizes = std::vector<Index>;

Box box(const Sizes& offsets, Sizes sizes) {
  Box made{{}, std::move(sizes)};
  for (const Index offset : offsets) made.offsets.push_back(GlobalIndex(offset));
  return made;
}
OwnedBox held(Index rank, const Sizes& offsets, Sizes sizes) { return {RankId(rank), box(offsets, std::move(sizes))}; }
BoxList list(Sizes shape, std::vector<OwnedBox> boxes) {
  return BoxList(Dtype::bf16, std::move(shape), std::move(boxes));
}

// Linear indices in the tensor of all elements of a box.
Sizes elements_of(const Box& of, const Sizes& shape) {
  Sizes elements;
  oracle::each_index(of.sizes, [&](const Sizes& index) {
    Sizes at = index;
    for (std::size_t dim = 0; dim < at.size(); ++dim) at[dim] += of.offsets[dim].value();
    elements.push_back(oracle::linear_index(at, shape));
  });
  return elements;
}

// Cuts a box at random into disjoint boxes.
void cut(Random& random, const Box& whole, int depth, std::vector<Box>& boxes) {
  const auto dim = static_cast<std::size_t>(random.below(std::ssize(whole.sizes)));
  if (depth == 0 || whole.sizes[dim] == 0) {
    boxes.push_back(whole);
    return;
  }
  Box low = whole, high = whole;
  low.sizes[dim] = random.between(0, whole.sizes[dim]);
  high.offsets[dim] += low.sizes[dim];
  high.sizes[dim] -= low.sizes[dim];
  cut(random, low, depth - 1, boxes);
  cut(random, high, depth - 1, boxes);
}

BoxList random_list(Random& random, const Sizes& shape, Index ranks) {
  std::vector<Box> boxes;
  cut(random, box(Sizes(shape.size(), 0), shape), static_cast<int>(random.below(6)), boxes);
  std::vector<OwnedBox> owned;
  for (const Box& each : boxes)
    for (Index copies = random.between(1, 3); copies > 0; --copies)
      owned.push_back({RankId(random.below(ranks)), each});
  random.shuffle(owned);
  return list(shape, std::move(owned));
}

// Elements of every target box are written once, by a rank that holds them, and by itself where it does.
void expect_right(const BoxList& source, const BoxList& target, const BoxPlan& plan) {
  const Sizes& shape = source.shape();
  std::map<Index, std::map<Index, bool>> holds;  // by rank, by element
  for (const OwnedBox& each : source.boxes())
    for (const Index element : elements_of(each.box, shape)) holds[each.rank.value()][element] = true;
  std::vector<std::map<Index, int>> written(target.boxes().size());
  Index sent = 0, copied = 0;
  for (const BoxTransfer& transfer : plan.transfers) {
    const OwnedBox& from = source.boxes().at(static_cast<std::size_t>(transfer.source));
    const OwnedBox& to = target.boxes().at(static_cast<std::size_t>(transfer.target));
    const Sizes inside_from = elements_of(from.box, shape);
    for (const Index element : elements_of(transfer.region, shape)) {
      ASSERT_TRUE(std::ranges::find(inside_from, element) != inside_from.end()) << transfer.region.text();
      ++written[static_cast<std::size_t>(transfer.target)][element];
      const bool own = holds[to.rank.value()].contains(element);
      ASSERT_EQ(from.rank == to.rank, own) << transfer.region.text() << " to rank " << to.rank.value();
      (own ? copied : sent) += 2;
    }
  }
  EXPECT_EQ(plan.sent, sent);
  EXPECT_EQ(plan.copied, copied);
  for (std::size_t k = 0; k < written.size(); ++k) {
    const Sizes wanted = elements_of(target.boxes()[k].box, shape);
    ASSERT_EQ(written[k].size(), wanted.size());
    for (const Index element : wanted) ASSERT_EQ(written[k][element], 1);
  }
}

TEST(Boxes, AnUnevenCheckpointMovesToOtherBoxes) {
  const BoxList source = list({5, 4}, {held(0, {0, 0}, {3, 4}), held(1, {3, 0}, {2, 4})});
  const BoxList target = list({5, 4}, {held(1, {0, 0}, {5, 2}), held(2, {0, 2}, {5, 2})});
  EXPECT_THAT(check_boxes(source), IsEmpty());
  const BoxPlan plan = plan_boxes(source, target);
  EXPECT_THAT(plan.transfers,
              ElementsAre(BoxTransfer{0, 0, box({0, 0}, {3, 2})}, BoxTransfer{1, 0, box({3, 0}, {2, 2})},
                          BoxTransfer{0, 1, box({0, 2}, {3, 2})}, BoxTransfer{1, 1, box({3, 2}, {2, 2})}));
  EXPECT_EQ(plan.sent, (6 + 6 + 4) * 2);
  EXPECT_EQ(plan.copied, 4 * 2);
  expect_right(source, target, plan);
}

TEST(Boxes, RandomListsArePlannedElementByElement) {
  Random random(seed_from_environment());
  for (int k = 0; k < 2000 && !testing::Test::HasFailure(); ++k) {
    Sizes shape;
    for (Index dims = random.between(1, 3); dims > 0; --dims) shape.push_back(random.below(9));
    const BoxList source = random_list(random, shape, 5), target = random_list(random, shape, 7);
    ASSERT_THAT(check_boxes(source), IsEmpty());
    expect_right(source, target, plan_boxes(source, target));
    // Targets that overlap and do not cover.
    std::vector<OwnedBox> loose;
    for (Index count = random.below(5); count > 0; --count) {
      OwnedBox one{RankId(random.below(7)), box(Sizes(shape.size(), 0), shape)};
      for (std::size_t dim = 0; dim < shape.size(); ++dim) {
        one.box.offsets[dim] = GlobalIndex(random.between(0, shape[dim]));
        one.box.sizes[dim] = random.between(0, shape[dim] - one.box.offsets[dim].value());
      }
      loose.push_back(one);
    }
    const BoxList any = list(shape, loose);
    expect_right(source, any, plan_boxes(source, any));
  }
}

TEST(Boxes, LayoutsAreBoxListsAndNeedAsManyBytesAsTheirPlan) {
  Random random(seed_from_environment() + 1);
  int compared = 0;
  for (int k = 0; k < 1000 && !testing::Test::HasFailure(); ++k) {
    const Sizes shape = random_shape(random);
    const Layout source = random_layout(random, shape, Dtype::bf16), target = random_layout(random, shape, Dtype::bf16);
    std::optional<Plan> made;
    try {
      made = plan(source, target);
    } catch (const Error&) {
      continue;
    }
    const BoxPlan boxes = plan_boxes(boxes_of(source), boxes_of(target));
    EXPECT_EQ(boxes.sent, made->certificate().sent) << source.text() << "  ->  " << target.text();
    EXPECT_EQ(boxes.copied, made->certificate().copied) << source.text() << "  ->  " << target.text();
    ++compared;
  }
  fmt::print("{} pairs of layouts\n", compared);
  EXPECT_GT(compared, 500);
}

TEST(Boxes, CopiesSendInTurn) {
  const BoxList source = list({4}, {held(0, {0}, {4}), held(1, {0}, {4})});
  const BoxList target = list({4}, {held(5, {0}, {1}), held(6, {1}, {1}), held(7, {2}, {1}), held(1, {3}, {1})});
  const BoxPlan plan = plan_boxes(source, target);
  EXPECT_EQ(plan.transfers[0].source, 0);
  EXPECT_EQ(plan.transfers[1].source, 1);
  EXPECT_EQ(plan.transfers[2].source, 0);
  EXPECT_EQ(plan.transfers[3].source, 1);  // its own
}

TEST(Boxes, HolesAndOverlapsNameTheirRanks) {
  const std::vector<BoxFault> holes = check_boxes(list({6, 4}, {held(3, {0, 0}, {2, 4}), held(8, {4, 0}, {2, 4})}));
  ASSERT_THAT(holes, SizeIs(1));
  EXPECT_EQ(holes[0].kind, BoxFault::Kind::hole);
  EXPECT_EQ(holes[0].region, box({2, 0}, {2, 4}));
  EXPECT_THAT(holes[0].ranks, ElementsAre(RankId(3), RankId(8)));
  EXPECT_EQ(holes[0].message, "[2:4, 0:4] is in no box; beside it are boxes of ranks 3, 8");

  const std::vector<BoxFault> overlaps = check_boxes(list({6, 4}, {held(3, {0, 0}, {4, 4}), held(8, {3, 1}, {3, 3})}));
  ASSERT_THAT(overlaps, SizeIs(2));
  EXPECT_EQ(overlaps[0].kind, BoxFault::Kind::overlap);
  EXPECT_EQ(overlaps[0].region, box({3, 1}, {1, 3}));
  EXPECT_THAT(overlaps[0].ranks, ElementsAre(RankId(3), RankId(8)));
  EXPECT_THAT(overlaps[0].message, HasSubstr("[0:4, 0:4] of rank 3 and [3:6, 1:4] of rank 8"));
  EXPECT_EQ(overlaps[1].kind, BoxFault::Kind::hole);
  EXPECT_EQ(overlaps[1].region, box({4, 0}, {2, 1}));

  EXPECT_THAT(check_boxes(list({3}, {})), SizeIs(1));
  EXPECT_THAT(check_boxes(list({0, 5}, {})), IsEmpty());
  EXPECT_THAT(check_boxes(list({}, {held(0, {}, {})})), IsEmpty());
  EXPECT_THAT(check_boxes(list({}, {})), SizeIs(1));
}

// Faults are found exactly where counting finds elements that are held never, or by different boxes.
TEST(Boxes, FaultsAreThoseThatCountingFinds) {
  Random random(seed_from_environment() + 2);
  int faulty = 0;
  for (int k = 0; k < 2000 && !testing::Test::HasFailure(); ++k) {
    const Sizes shape = {random.between(1, 8), random.between(1, 8)};
    std::vector<OwnedBox> boxes = random_list(random, shape, 4).boxes();
    if (!boxes.empty() && random.one_in(2)) boxes.pop_back();
    if (!boxes.empty() && random.one_in(2)) {
      Box& changed = boxes.front().box;
      const auto dim = static_cast<std::size_t>(random.below(2));
      if (changed.offsets[dim].value() + changed.sizes[dim] < shape[dim]) ++changed.sizes[dim];
    }
    std::vector<Box> different;
    for (const OwnedBox& each : boxes)
      if (std::ranges::find(different, each.box) == different.end()) different.push_back(each.box);
    std::map<Index, int> times;
    for (const Box& each : different)
      for (const Index element : elements_of(each, shape)) ++times[element];
    std::map<Index, int> holes, overlaps;
    for (const BoxFault& fault : check_boxes(list(shape, boxes), 1000))
      for (const Index element : elements_of(fault.region, shape))
        ++(fault.kind == BoxFault::Kind::hole ? holes : overlaps)[element];
    for (Index element = 0; element < shape[0] * shape[1]; ++element) {
      ASSERT_EQ(holes[element], times[element] == 0 ? 1 : 0) << element;
      ASSERT_EQ(overlaps[element] > 0, times[element] > 1) << element;
    }
    faulty += times.size() < static_cast<std::size_t>(shape[0] * shape[1]) || !overlaps.empty() ? 1 : 0;
  }
  EXPECT_GT(faulty, 200);
}

void expect_refused(const BoxList& source, const BoxList& target, const char* words) {
  try {
    plan_boxes(source, target);
    FAIL() << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(Boxes, PlansRefuseWhatNoRankHoldsOrTwoHoldDifferently) {
  const BoxList holed = list({6}, {held(0, {0}, {2}), held(1, {4}, {2})});
  expect_refused(holed, list({6}, {held(7, {1}, {4})}),
                 "target box 0 of rank 7, [1:5], needs 2 elements that no source rank holds: [2:4] is in no box");
  EXPECT_EQ(plan_boxes(holed, list({6}, {held(7, {1}, {1}), held(7, {3}, {0})})).sent, 2);
  expect_refused(list({6}, {held(0, {0}, {4}), held(1, {3}, {3})}), list({6}, {}),
                 "[0:4] of rank 0 and [3:6] of rank 1");
  expect_refused(holed, list({7}, {}), "[7]");
  expect_refused(holed, BoxList(Dtype::f32, {6}, {}), "f32");
}

TEST(Boxes, WrongBoxesNameEntryRankAndDimension) {
  for (const auto& [boxes, words] : std::vector<std::pair<std::vector<OwnedBox>, const char*>>{
           {{held(0, {0, 0}, {1, 1}), held(4, {0, 3}, {1, 2})}, "box 1 of rank 4: dimension 1 from 3 with size 2"},
           {{held(4, {0, -1}, {1, 2})}, "dimension 1 from -1"},
           {{held(4, {0, 0}, {1, -2})}, "size -2"},
           {{held(4, {INT64_MAX, 0}, {INT64_MAX, 1})}, "dimension 0"},
           {{held(4, {0}, {1})}, "1 offsets"},
           {{held(-4, {0, 0}, {1, 1})}, "rank -4"}})
    try {
      list({4, 4}, boxes);
      FAIL() << words;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
}

// n x n boxes against n x n boxes of another cut.
Index comparisons_of_grids(Index n) {
  const auto grid = [](Index boxes, Index extent) {
    std::vector<OwnedBox> owned;
    for (Index i = 0; i < boxes; ++i)
      for (Index j = 0; j < boxes; ++j) {
        const Index top = i * extent / boxes, left = j * extent / boxes;
        owned.push_back(
            held(i * boxes + j, {top, left}, {(i + 1) * extent / boxes - top, (j + 1) * extent / boxes - left}));
      }
    return list({extent, extent}, std::move(owned));
  };
  const BoxPlan plan = plan_boxes(grid(n, 12 * n + 5), grid(n + 1, 12 * n + 5));
  EXPECT_GE(std::ssize(plan.transfers), (n + 1) * (n + 1));
  return plan.comparisons;
}

TEST(Boxes, NoStepComparesAllPairs) {
  const Index small = comparisons_of_grids(20), large = comparisons_of_grids(80);
  fmt::print("comparisons: {} for 400 boxes, {} for 6400\n", small, large);
  EXPECT_LT(large, 6400 * 6561 / 50);  // all pairs would be 41,990,400
  EXPECT_LT(large, small * 16 * 2);    // 16 times the boxes
  // Copies do not multiply the work: 64 ranks with the same 100 boxes.
  std::vector<OwnedBox> copies, wanted;
  for (Index rank = 0; rank < 64; ++rank)
    for (Index k = 0; k < 100; ++k) copies.push_back(held(rank, {k}, {1}));
  for (Index k = 0; k < 100; ++k) wanted.push_back(held(100 + k, {k}, {1}));
  EXPECT_LT(plan_boxes(list({100}, copies), list({100}, wanted)).comparisons, 100 * 60);
}

TEST(Boxes, OfALayoutAreItsRegions) {
  EXPECT_EQ(boxes_of(layout("bf16[8,3] on (a=2)@4 {0: a:cyclic(2)}")).boxes(),
            (std::vector{held(4, {0, 0}, {2, 3}), held(4, {4, 0}, {2, 3}), held(5, {2, 0}, {2, 3}),
                         held(5, {6, 0}, {2, 3})}));
  EXPECT_THROW(boxes_of(layout("bf16[8] on (a=2) {a: partial(sum)}")), Error);
  EXPECT_THROW(boxes_of(layout("bf16[8] on (a=16777216) {0: a}")), Error);
}

TEST(Boxes, JsonRoundTrip) {
  const BoxList boxes = list({5, 7}, {held(3, {0, 0}, {5, 2}), held(1, {0, 2}, {5, 5}), held(2, {5, 7}, {0, 0})});
  const BoxList read = box_list_from_json(boxes.json());
  EXPECT_EQ(read.dtype(), boxes.dtype());
  EXPECT_EQ(read.shape(), boxes.shape());
  EXPECT_EQ(read.boxes(), boxes.boxes());
}

TEST(Boxes, JsonFaultsNameTheEntry) {
  const auto refusal = [](const std::string& entry) -> std::string {
    try {
      box_list_from_json(R"({"dtype": "f32", "shape": [4], "boxes": [{"rank": 0, "offsets": [0], "sizes": [2]}, )" +
                         entry + "]}");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(R"({"offsets": [2], "sizes": [2]})"), HasSubstr("entry 1: \"rank\" is missing"));
  EXPECT_THAT(refusal(R"({"rank": 1.5, "offsets": [2], "sizes": [2]})"),
              HasSubstr("entry 1, rank: 1.5 is no 64-bit integer"));
  EXPECT_THAT(refusal(R"({"rank": 1, "offsets": 2, "sizes": [2]})"), HasSubstr("entry 1, offsets: 2 is no list"));
  EXPECT_THAT(refusal(R"({"rank": 1, "offsets": [16], "sizes": [-16]})"), HasSubstr("box 1"));
  EXPECT_THAT(refusal(R"({"rank": 1, "offsets": [0, 0], "sizes": [1, 1]})"), HasSubstr("box 1"));
  EXPECT_THROW(box_list_from_json("{"), Error);
  EXPECT_THROW(box_list_from_json(R"({"dtype": "f12", "shape": [], "boxes": []})"), Error);
}

}  // namespace
}  // namespace reshard
