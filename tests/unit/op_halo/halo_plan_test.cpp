// Layouts and shards of what is widened, and what cannot be.
#include <gmock/gmock.h>

#include "reshard/error.h"
#include "reshard/halo.h"

namespace reshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Layout widened(const char* text, const Halo& halo) { return HaloPlan(layout(text), halo).out(); }

const Halo kOne{{{0, 1, 1, HaloEdge::zero()}}};

TEST(HaloPlan, WidenedPiecesAreLaidEndToEnd) {
  EXPECT_EQ(widened("f32[10] on (x=3) {0: x:balanced}", kOne).text(), "f32[16] on (x=3) {0: x:sizes[6,5,5]}");
  EXPECT_EQ(widened("f32[10,4] on (x=3, r=2) {0: x, r: partial(sum)} order(1,0)", kOne).text(),
            "f32[16,4] on (x=3, r=2) {0: x:sizes[6,6,4], r: partial(sum)} order(1,0)");
}

TEST(HaloPlan, WithoutGhostsAtTheEndsShardsThereAreWidenedInwards) {
  const Halo none{{{0, 3, 2, HaloEdge::none()}}};
  EXPECT_EQ(widened("f32[10] on (x=3) {0: x:balanced}", none).text(), "f32[20] on (x=3) {0: x:sizes[6,8,6]}");
  EXPECT_EQ(widened("f32[2] on (x=2) {0: x}", none).text(), "f32[4] on (x=2) {0: x:sizes[2,2]}");
}

TEST(HaloPlan, AnEmptyShardStaysEmpty) {
  EXPECT_EQ(widened("f32[2,5] on (x=3) {0: x}", {{{0, 4, 4, HaloEdge::zero()}, {1, 1, 0, HaloEdge::zero()}}}).text(),
            "f32[18,6] on (x=3) {0: x:sizes[9,9,0]}");
}

TEST(HaloPlan, NestedCutsBecomeOneList) {
  EXPECT_EQ(widened("f32[10,3] on (a=2, b=2) {0: b a}", kOne).text(),
            "f32[18,3] on (a=2, b=2) {0: (b a):sizes[5,4,5,4]}");
}

TEST(HaloPlan, WhatIsNotCutIsWidenedWhole) {
  EXPECT_EQ(widened("f32[10,3] on (a=2) {1: a}", kOne).text(), "f32[12,3] on (a=2) {1: a}");
}

TEST(HaloPlan, ShardsSayWhereOwnCellsAreAndWhichNeedNoGhosts) {
  const HaloPlan plan(layout("f32[10,3] on (x=3) {0: x:balanced}"), {{{0, 1, 2, HaloEdge::zero()}}});
  const HaloShard shard = plan.shard(RankId(0));
  EXPECT_TRUE(shard.held);
  EXPECT_THAT(shard.extents, ElementsAre(7, 3));
  EXPECT_EQ(shard.own, (LocalBox{{LocalIndex(1), LocalIndex(0)}, {4, 3}}));
  EXPECT_EQ(shard.interior, (LocalBox{{LocalIndex(2), LocalIndex(0)}, {1, 3}}));
  EXPECT_EQ(plan.shard(RankId(1)).interior.elements(), 0);
  EXPECT_FALSE(plan.shard(RankId(3)).held);
}

// Message of the error, which has this code.
std::string refused(Code code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

std::string invalid(const char* text, const Halo& halo) {
  return refused(Code::invalid_argument, [&] { HaloPlan(layout(text), halo); });
}
std::string unsupported(const char* text, const Halo& halo) {
  return refused(Code::unsupported, [&] { HaloPlan(layout(text), halo); });
}

TEST(HaloPlan, RefusesWhatDoesNotFitTheTensor) {
  const char* field = "f32[10,6] on (x=2) {0: x}";
  EXPECT_THAT(invalid(field, {{{2, 1, 1}}}), HasSubstr("no dimension 2"));
  EXPECT_THAT(invalid(field, {{{-3, 1, 1}}}), HasSubstr("no dimension -3"));
  EXPECT_THAT(invalid(field, {{{0, 1, 1}, {-2, 1, 1}}}), HasSubstr("dimension 0 is listed twice"));
  EXPECT_THAT(invalid(field, {{{0, -1, 1}}}), HasSubstr("cannot be widened by -1 and 1"));
  EXPECT_THAT(invalid("i8[10] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::constant(128)}}}),
              HasSubstr("i8 has no value 128"));
  EXPECT_THAT(invalid("i64[10] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::constant(0.5)}}}),
              HasSubstr("i64 has no value 0.5"));
}

TEST(HaloPlan, RefusesPolesWithoutOppositeLongitudes) {
  EXPECT_THAT(invalid("f32[4,5] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::pole(1)}}}), HasSubstr("dimension 1 has 5"));
  EXPECT_THAT(invalid("f32[4,6] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::pole(0)}}}),
              HasSubstr("be that of longitudes"));
  EXPECT_THAT(invalid("f32[4,6] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::pole(2)}}}), HasSubstr("no dimension 2"));
  EXPECT_THAT(invalid("f32[4,6] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::pole(1)}, {1, 1, 1, HaloEdge::zero()}}}),
              HasSubstr("is periodic, not zero"));
  EXPECT_THAT(invalid("u8[4,6] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::pole(1, true)}}}), HasSubstr("u8 has no sign"));
  EXPECT_THAT(unsupported("f32[4,6] on (x=2) {1: x:cyclic(1)}", {{{0, 1, 1, HaloEdge::pole(1)}}}),
              HasSubstr("rank 0 holds 3 segments of dimension 1"));
  EXPECT_THAT(unsupported("f32[4,6] on (x=2) {0: x}", {{{0, 1, 1, HaloEdge::pole(1)}, {1, 1, 1, HaloEdge::pole(0)}}}),
              HasSubstr("only one dimension"));
}

TEST(HaloPlan, RefusesWhatHasNoShardToWiden) {
  EXPECT_THAT(unsupported("f32[10] on (x=2) {0: x:cyclic(2)}", kOne),
              testing::AllOf(HasSubstr("segments of dimension 0"), HasSubstr("redistribute")));
  EXPECT_THAT(unsupported("f32[10,4][2:8, :] on (x=2) {0: x}", kOne), HasSubstr("a view"));
  EXPECT_THAT(unsupported("f32[10] on (x=2) {0: x} private(tiles)", kOne), HasSubstr("tiles"));
  EXPECT_THAT(unsupported("f32[10] on (x=2) {x: partial(max)}", kOne), HasSubstr("no sums"));
  EXPECT_THAT(unsupported("f32[10] on (x=2) {x: partial(sum)}", {{{0, 1, 1, HaloEdge::constant(1)}}}),
              HasSubstr("in every pending term"));
}

BoxList boxes(std::vector<OwnedBox> boxes) { return BoxList(Dtype::i64, {3, 4}, std::move(boxes)); }
OwnedBox box(Index rank, Index row, Index column, Index rows, Index columns) {
  return {RankId(rank), {{GlobalIndex(row), GlobalIndex(column)}, {rows, columns}}};
}

TEST(HaloPlan, RefusesBoxesThatAreNoTensor) {
  const auto message = [&](Code code, const BoxList& list) { return refused(code, [&] { HaloPlan(list, kOne); }); };
  EXPECT_THAT(message(Code::invalid_argument, boxes({box(0, 0, 0, 3, 3)})), HasSubstr("[0:3, 3:4]"));
  EXPECT_THAT(message(Code::unsupported, boxes({box(0, 0, 0, 3, 2), box(0, 0, 2, 3, 2)})),
              HasSubstr("rank 0 has two boxes"));
  EXPECT_THAT(message(Code::unsupported, boxes({box(0, 0, 0, 3, 4), box(1, 0, 0, 3, 4)})),
              HasSubstr("ranks 0 and 1 have copies"));
}

TEST(HaloPlan, TextsNameWidthsAndEdges) {
  const Halo halo{{{-2, 2, 1, HaloEdge::pole(-1, true)}, {1, 1, 1, HaloEdge::periodic()}}};
  EXPECT_EQ(HaloPlan(layout("f32[4,6] on (x=2) {0: x}"), halo, HaloScheme::two_phase).text(),
            "widen f32[4,6] on (x=2) {0: x} by 0: 2+1 pole(1, flips), 1: 1+1 periodic, two-phase");
}

}  // namespace
}  // namespace reshard
