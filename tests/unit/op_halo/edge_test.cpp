// What lies beyond the ends of a dimension, cell by cell.
#include "op/halo/edge.h"

#include <gmock/gmock.h>

namespace reshard {
namespace {

using halo::origin_of;
using testing::ElementsAre;

// Origins of cells [first, last].
std::vector<Index> origins(const HaloEdge& edge, Index n, Index first, Index last) {
  std::vector<Index> cells;
  for (Index at = first; at <= last; ++at) cells.push_back(origin_of(edge, at, n).cell);
  return cells;
}

TEST(Edge, ClampIsTheNearestCell) {
  EXPECT_THAT(origins(HaloEdge::clamp(), 3, -2, 5), ElementsAre(0, 0, 0, 1, 2, 2, 2, 2));
}

TEST(Edge, MirrorDoesNotRepeatTheLastCell) {
  EXPECT_THAT(origins(HaloEdge::mirror(), 3, -5, 7), ElementsAre(1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1));
  EXPECT_THAT(origins(HaloEdge::mirror(), 1, -3, 3), ElementsAre(0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(origins(HaloEdge::mirror(), 2, -3, 4), ElementsAre(1, 0, 1, 0, 1, 0, 1, 0));
}

TEST(Edge, PeriodicGoesRound) {
  EXPECT_THAT(origins(HaloEdge::periodic(), 3, -4, 6), ElementsAre(2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0));
}

TEST(Edge, APoleRepeatsItsRowAndIsCrossedBackAfterTheOther) {
  const HaloEdge pole = HaloEdge::pole(1);
  EXPECT_THAT(origins(pole, 2, -5, 6), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1));
  std::vector<bool> crosses;
  for (Index at = -5; at <= 6; ++at) crosses.push_back(origin_of(pole, at, 2).crosses);
  EXPECT_THAT(crosses, ElementsAre(true, false, false, true, true, false, false, true, true, false, false, true));
}

TEST(Edge, ConstantsHaveNoOrigin) {
  for (const HaloEdge& edge : {HaloEdge::zero(), HaloEdge::constant(4)}) {
    EXPECT_TRUE(origin_of(edge, -1, 3).is_constant);
    EXPECT_FALSE(origin_of(edge, 2, 3).is_constant);
    EXPECT_TRUE(origin_of(edge, 3, 3).is_constant);
  }
}

}  // namespace
}  // namespace reshard
