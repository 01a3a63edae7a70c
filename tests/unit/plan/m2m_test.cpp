#include "reshard/m2m.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "property/marked.h"
#include "reshard/notation.h"

namespace reshard {
namespace {

using testing::HasSubstr;

// The running example of the m2m map.
const char* const kRows = "f32[4,2] on (r=4) {0: r}";
const char* const kBlocks = "f32[4,2] on (y=2, x=2) {0: y, 1: x}";

M2MMap map_of(std::string_view source, std::string_view target) { return m2m_map(layout(source), layout(target)); }

void expect_refused(std::string_view source, std::string_view target, Code code, std::vector<std::string> words) {
  try {
    map_of(source, target);
    FAIL() << "not refused: " << source << "  ->  " << target;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    for (const std::string& word : words) EXPECT_THAT(error.what(), HasSubstr(word));
  }
}

TEST(M2M, RowsToBlocks) {
  const M2MMap map = map_of(kRows, kBlocks);
  EXPECT_EQ(map.middle(), (std::vector<Index>{4, 2}));
  EXPECT_EQ(map.source_num_slicers(), (std::vector<Index>{1, 2}));
  EXPECT_EQ(map.target_num_slicers(), (std::vector<Index>{2, 1}));
  const auto dict = map.dict();
  const auto to = [&](Index rank, Index column) { return dict.at(RankId(rank)).at({0, column}); };
  const auto at = [](Index rank, Index row) { return std::vector{CellAt{RankId(rank), {row, 0}}}; };
  EXPECT_EQ(to(0, 0), at(0, 0));
  EXPECT_EQ(to(0, 1), at(1, 0));
  EXPECT_EQ(to(1, 0), at(0, 1));
  EXPECT_EQ(to(1, 1), at(1, 1));
  EXPECT_EQ(to(2, 0), at(2, 0));
  EXPECT_EQ(to(2, 1), at(3, 0));
  EXPECT_EQ(to(3, 0), at(2, 1));
  EXPECT_EQ(to(3, 1), at(3, 1));
  EXPECT_EQ(map.routes().size(), 8u);
  expect_as_marked(map.source(), map.target());
}

TEST(M2M, DependsOnTheShapeOnlyThroughItsDivision) {
  const M2MMap small = map_of(kRows, kBlocks);
  const M2MMap large = map_of("bf16[4096,6] on (r=4) {0: r}", "f32[4096,6] on (y=2, x=2) {0: y, 1: x}");
  EXPECT_EQ(small.dict(), large.dict());
  EXPECT_EQ(small, map_of(kRows, kBlocks));
  EXPECT_NE(small, large);
}

TEST(M2M, TextAndJson) {
  const M2MMap map = map_of("f32[4] on (p=2, r=2) {0: r, p: partial(avg)}", "f32[4] on (a=3) {}");
  EXPECT_EQ(map.text(),
            "m2m middle (2)\n"
            "source f32[4] on (p=2, r=2) {0: r, p: partial(avg)} slicers (1)\n"
            "target f32[4] on (a=3) slicers (2)\n"
            "reduce avg along axis 0 \"p\"\n"
            "0 (0) one -> 0 (0) local, 2 (0)\n"
            "1 (0) many -> 0 (1), 2 (1)\n"
            "2 (0) one -> 1 (0)\n"
            "3 (0) one -> 1 (1)\n");
  const std::string json = map.json();
  EXPECT_THAT(json, HasSubstr("\"source_partial_reductions\": [\n  [\n   0,\n   \"avg\"\n  ]\n ]"));
  EXPECT_THAT(json, HasSubstr("\"source_num_slicers\": [\n  1\n ]"));
  EXPECT_THAT(json, HasSubstr("\"target_num_slicers\": [\n  2\n ]"));
  EXPECT_THAT(json, HasSubstr("\"m2m_map\": {\n  \"0\": {\n   \"0\": ["));
}

TEST(M2M, KindsCountOtherRanksOnly) {
  // Two copies of one cell; target t reads from copy t mod 2, also where it holds the cell itself.
  const M2MMap map = map_of("f32[6] on (dp=2) {}", "f32[6] on (a=5) {}");
  ASSERT_EQ(map.routes().size(), 2u);
  const Route &even = map.routes()[0], &odd = map.routes()[1];
  EXPECT_EQ(even.targets, (std::vector<RouteEnd>{{RankId(0), 0}, {RankId(2), 0}, {RankId(4), 0}}));
  EXPECT_EQ(odd.targets, (std::vector<RouteEnd>{{RankId(1), 0}, {RankId(3), 0}}));
  EXPECT_EQ(even.kind(), RouteKind::many);
  EXPECT_EQ(odd.kind(), RouteKind::one);
  EXPECT_TRUE(even.is_local(even.targets[0]));
  EXPECT_FALSE(even.is_local(even.targets[1]));
  EXPECT_EQ(Route({{RankId(3), 0}, {{RankId(3), 1}}}).kind(), RouteKind::one);
  EXPECT_EQ(Route({{RankId(3), 0}, {}}).kind(), RouteKind::reduce_only);
}

// Holders are taken in order of rank, targets in order of their mesh.
TEST(M2M, ReplicasOfShuffledMeshes) {
  const M2MMap map = map_of("f32[6] on (dp=3)@[7,2,5] {}", "f32[6] on (a=4)@[9,2,8,0] {}");
  ASSERT_EQ(map.routes().size(), 3u);
  EXPECT_EQ(map.find(RankId(2), std::vector<Index>{0})->targets,
            (std::vector<RouteEnd>{{RankId(9), 0}, {RankId(0), 0}}));
  EXPECT_EQ(map.find(RankId(5), std::vector<Index>{0})->targets, (std::vector<RouteEnd>{{RankId(2), 0}}));
  EXPECT_EQ(map.find(RankId(7), std::vector<Index>{0})->targets, (std::vector<RouteEnd>{{RankId(8), 0}}));
}

TEST(M2M, LinkedSubGroupsReduceTogether) {
  // ETHA's case: both axes of 2 x 3 ranks are pending, two targets. Only ranks 0 and 1 send, all six reduce.
  const M2MMap map = map_of("f32[6] on (a=2, b=3) {a: partial(sum), b: partial(sum)}", "f32[6] on (c=2)@6 {}");
  ASSERT_EQ(map.routes().size(), 6u);
  for (Index rank = 0; rank < 6; ++rank) {
    const Route& route = map.routes()[static_cast<std::size_t>(rank)];
    EXPECT_EQ(route.source, (RouteEnd{RankId(rank), 0}));
    EXPECT_EQ(route.kind(), rank < 2 ? RouteKind::one : RouteKind::reduce_only) << rank;
  }
  EXPECT_EQ(map.source_partial_reductions(), (std::vector<PartialReduction>{{0, ReduceOp::sum}, {1, ReduceOp::sum}}));
  expect_as_marked(map.source(), map.target());
}

TEST(M2M, GroupsWhereNobodySendsDoNotReduce) {
  // Ranks (dp, p): one target reads from rank 0 alone, so the copies of dp = 1 have nothing to do.
  const M2MMap map = map_of("f32[6] on (dp=2, p=2) {p: partial(max)}", "f32[6] on (c=1)@9 {}");
  ASSERT_EQ(map.routes().size(), 2u);
  EXPECT_EQ(map.routes()[1].source.rank, RankId(1));
  EXPECT_EQ(map.routes()[1].kind(), RouteKind::reduce_only);
  EXPECT_EQ(map.find(RankId(2), std::vector<Index>{0}), nullptr);
  expect_as_marked(map.source(), map.target());
}

TEST(M2M, EqualToMarksOnMeshesOfEveryForm) {
  const std::vector<std::string> layouts = {
      "f32[24,12] on (a=2, b=3) {0: b a}",
      "f32[24,12] on (a=2:1, b=3:2)@1 {0: a b}",
      "f32[24,12] on (x=2, y=3)@[9,0,4,2,11,7] {0: x, 1: y}",
      "f32[24,12] on (tp=6 as (kv=2, rep=3)) {1: kv}",
      "f32[24,12] on (tp=6 as (kv=2, rep=3)) {1: tp}",
      "f32[24,12] on (tp=4, dp=2)@3 {0: (tp dp)}",
      "f32[24,12] on (pp=2, tp=3) {0: tp, pp: at(1)}",
      "f32[24,12] on (a=2, b=2) {0: a:strided-shard(2) b}",
      "f32[24,12] on (a=2, b=2, c=2) {0: a:strided-shard(4) b c}",
      "f32[24,12] on (a=3) {0: a:balanced-last}",
      "f32[24,12] on (a=4) {0: a:floor} order(1,0)",
      "f32[24,12] on (p=2, q=3) {0: q, p: partial(sum)}",
      "f32[24,12] on (p=2, q=3, r=2) {1: r, p: partial(min), q: partial(min)}",
      "f32[24,12] on () {}",
  };
  for (const std::string& source : layouts)
    for (const std::string& target : layouts)
      if (!layout(target).has_partial()) expect_as_marked(layout(source), layout(target));
}

// Whatever rule made the blocks: these have no shape of the middle grid, so marks cannot say.
TEST(M2M, EqualBlocksOfAnyRule) {
  const char* const target = "f32[24,12] on (b=2) {0: b}";
  const auto dict = map_of("f32[24,12] on (a=3) {0: a}", target).dict();
  for (const char* const cut :
       {"a:even/4", "a:sizes[8,8,8]", "a:cyclic(8)", "a:packed[8]", "a:window(0)", "a:parts[24]"})
    EXPECT_EQ(map_of("f32[24,12] on (a=3) {0: " + std::string(cut) + "}", target).dict(), dict) << cut;
}

TEST(M2M, EqualToMarksForScalarsAndFourDimensions) {
  expect_as_marked(layout("f32[] on (a=3) {}"), layout("f32[] on (b=2)@2 {}"));
  expect_as_marked(layout("f32[2,6,4,3] on (a=2, b=6, c=2) {0: a, 1: b, 2: c}"),
                   layout("f32[2,6,4,3] on (c=4, a=3)@20 {2: c, 3: a}"));
}

// The mesh pairs of ETHA's tests: [R, R, S(0), S(1)] -> [R, _S(1, 2), R, S(1)].
TEST(M2M, StridedShardsInCanonicalForm) {
  const std::vector<std::pair<std::vector<Index>, std::vector<Index>>> pairs = {
      {{4, 1, 1, 1}, {4, 1, 1, 1}}, {{2, 2, 1, 1}, {2, 1, 1, 2}}, {{2, 2, 1, 1}, {2, 1, 2, 1}},
      {{2, 1, 2, 1}, {2, 1, 1, 2}}, {{2, 1, 1, 2}, {1, 1, 2, 2}}, {{1, 2, 2, 1}, {1, 2, 1, 2}},
      {{1, 2, 1, 2}, {1, 1, 2, 2}}, {{1, 1, 2, 2}, {2, 1, 1, 2}}, {{4, 1, 1, 1}, {1, 1, 1, 4}},
      {{1, 4, 1, 1}, {1, 1, 4, 1}}, {{1, 1, 4, 1}, {1, 1, 1, 4}}};
  const auto mesh_of = [](const std::vector<Index>& sizes, Index base) {
    return Mesh("", {{"a", sizes[0]}, {"b", sizes[1]}, {"c", sizes[2]}, {"d", sizes[3]}}, RankId(base));
  };
  for (const auto& [from, to] : pairs)
    expect_as_marked(from_dtensor(Dtype::f32, {8, 8}, mesh_of(from, 0), "R R S(0) S(1)"),
                     from_dtensor(Dtype::f32, {8, 8}, mesh_of(to, 4), "R _S(1,2) R S(1)"));
}

TEST(M2M, FloatMarksGoWrongWhereWholeOnesDoNot) {
  // Rank 511 of 512, middle 64 x 8 x 8: marks reach 511 * 65^3 + .., far past 2^24.
  const Layout source = layout("f32[64,8,8] on (a=8, b=8, c=8) {0: a, 1: b, 2: c}");
  const Layout target = layout("f32[64,8,8] on (x=64)@512 {0: x}");
  const Index base = 65, mark = oracle::mark_of(511, {7, 0, 0}, base);
  EXPECT_EQ(mark, 511 * base * base * base + 7 * base * base);
  EXPECT_EQ(oracle::read_mark(mark, 3, base), (oracle::Recaptured{511, {7, 0, 0}}));
  EXPECT_NE(oracle::read_mark(oracle::stored_in(oracle::MarkStore::float32, mark), 3, base),
            (oracle::Recaptured{511, {7, 0, 0}}));
  const M2MMap map = m2m_map(source, target);
  EXPECT_EQ(map.middle(), (std::vector<Index>{64, 8, 8}));
  EXPECT_TRUE(as_marked(map).routes == oracle::mark_and_recapture(source, target).routes);
  EXPECT_FALSE(as_marked(map).routes == oracle::mark_and_recapture(source, target, oracle::MarkStore::float32).routes);
}

TEST(M2M, WhatDoesNotDivideIsRefusedByName) {
  const char* const whole = "f32[12,4] on (z=1) {}";
  const auto refused = [&](const char* source, std::vector<std::string> words) {
    words.insert(words.end(), {"source", "plan()"});
    expect_refused(source, whole, Code::unsupported, words);
  };
  refused("f32[12,4] on (tp=5) {0: tp}", {"dimension 0", "axis \"tp\"", "12 elements", "5 shards", "remainder 2"});
  refused("f32[12,4] on (a=2, b=4) {1: a b}", {"dimension 1", "axis \"a\", \"b\"", "8 shards"});
  refused("f32[12,4] on (tp=2) {0: tp:strided(3)}", {"dimension 0", "axis \"tp\"", "3 pieces"});
  refused("f32[12,4] on (a=2, b=2) {0: a:strided-shard(3) b}", {"dimension 0", "3 pieces", "2 parts"});
  refused("f32[12,4] on (tp=2) {0: tp:cyclic(2)}", {"dimension 0", "rank 0 holds 3 runs"});
  refused("f32[12,4] on (tp=2) {0: tp:packed[4,2]}", {"dimension 0", "rank 0 holds 2 runs"});
  refused("f32[12,4] on (tp=3) {0: tp:sizes[3,4,5]}", {"dimension 0", "rank 0 holds 3 elements from 0 on"});
  refused("f32[12,4] on (tp=2) {0: tp:balanced/4}", {"dimension 0", "rank 0 holds 8 elements", "2 blocks of 6"});
  refused("f32[20,4][0:12, :] on (tp=2) {0: tp}", {"view"});
  expect_refused(whole, "f32[12,4] on (tp=8) {1: tp}", Code::unsupported, {"target", "dimension 1", "8 shards"});
  expect_refused("f32[0,4] on (a=2) {0: a}", "f32[0,4] on (a=2) {}", Code::unsupported, {"dimension 0", "no elements"});
  expect_refused(whole, "f32[12,8] on (a=2) {}", Code::invalid_argument, {"[12,8]", "shape"});
}

TEST(M2M, PendingTargetsAndKindsThatDoNotCommuteAreRefused) {
  expect_refused("f32[4] on (a=2) {}", "f32[4] on (a=2) {a: partial(sum)}", Code::unsupported,
                 {"target", "\"a\"", "replicated"});
  expect_refused("f32[4] on (a=2, b=2) {a: partial(sum), b: partial(max)}", "f32[4] on (c=2) {}", Code::unsupported,
                 {"partial(sum)", "\"a\"", "partial(max)", "\"b\""});
  EXPECT_NO_THROW(map_of("f32[4] on (a=2, b=2) {a: partial(sum), b: partial(avg)}", "f32[4] on (c=2) {}"));
}

TEST(M2M, CellsAreCountedIn64Bits) {
  // lcm(97, 128) * lcm(89, 128) cells.
  expect_refused("f32[12416,11392] on (a=97, b=89) {0: a, 1: b}", "f32[12416,11392] on (a=128, b=128) {0: a, 1: b}",
                 Code::unsupported, {"12416×11392", "141443072 destinations", "plan()"});
  const M2MMap map = map_of("f32[1152921504606846976] on (a=2) {0: a}", "f32[1152921504606846976] on (a=4) {0: a}");
  EXPECT_EQ(map.routes().size(), 4u);
}

TEST(M2M, IndicesOutsideTheShardAreRefused) {
  const M2MMap map = map_of(kRows, kBlocks);
  EXPECT_EQ(map.find(RankId(7), std::vector<Index>{0, 0}), nullptr);
  EXPECT_THROW(map.find(RankId(0), std::vector<Index>{0, 2}), Error);
  EXPECT_THROW(map.find(RankId(0), std::vector<Index>{-1, 0}), Error);
  EXPECT_THROW(map.find(RankId(0), std::vector<Index>{0}), Error);
}

}  // namespace
}  // namespace reshard
