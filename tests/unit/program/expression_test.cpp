#include "reshard/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "reshard/error.h"

namespace reshard {
namespace {

using Kind = Expression::Kind;
const Expression me = Expression::variable("me"), all_ranks = Expression::variable("P"),
                 index_d = Expression::variable("d");
constexpr Index kMax = std::numeric_limits<Index>::max(), kMin = std::numeric_limits<Index>::min();

Scope scope_of(Index my_rank, Index rank_count, Index at = 0) {
  Scope scope;
  scope.set("me", my_rank);
  scope.set("P", rank_count);
  scope.set("d", at);
  return scope;
}

std::string error_of(const Expression& expression, const Scope& scope) {
  try {
    return "no error, but " + std::to_string(evaluate(expression, scope));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Expression, LeftNeighbourOfRankZeroIsTheLastRank) {
  for (Index p = 1; p <= 5; ++p)
    for (Index r = 0; r < p; ++r)
      EXPECT_EQ(evaluate((me - 1) % all_ranks, scope_of(r, p)), r == 0 ? p - 1 : r - 1) << p << " " << r;
}

// Against the definition: q is the greatest integer with q * b <= a (for b > 0), a % b = a - q * b.
TEST(Expression, DivisionRoundsTowardMinusInfinity) {
  for (Index a = -7; a <= 7; ++a) {
    for (Index b : {-3, -2, -1, 1, 2, 3}) {
      const Index quotient = evaluate(me / all_ranks, scope_of(a, b)), rest = evaluate(me % all_ranks, scope_of(a, b));
      EXPECT_EQ(quotient * b + rest, a) << a << " " << b;
      EXPECT_TRUE(b > 0 ? 0 <= rest && rest < b : b < rest && rest <= 0) << a << " " << b << " " << rest;
    }
  }
}

TEST(Expression, ConstantsAreFoldedWhereTheResultExists) {
  EXPECT_TRUE((Expression(3) * 4 + 1).is_constant(13));
  EXPECT_TRUE((-Expression(2)).is_constant(-2));
  EXPECT_FALSE((Expression(1) / 0).is_constant());
  EXPECT_FALSE((Expression(kMax) + 1).is_constant());
  EXPECT_FALSE((-Expression(kMin)).is_constant());
}

TEST(Expression, WhatDoesNotExistIsAnErrorThatQuotesIt) {
  EXPECT_EQ(error_of(me / (all_ranks - all_ranks), scope_of(3, 2)), "`me / (P - P)` is a division by zero for 3 and 0");
  EXPECT_EQ(error_of(me * all_ranks, scope_of(kMax, 2)), "`me * P` is past 64 bits for 9223372036854775807 and 2");
  EXPECT_EQ(error_of(me / all_ranks, scope_of(kMin, -1)), "`me / P` is past 64 bits for -9223372036854775808 and -1");
  EXPECT_EQ(error_of(Expression::variable("q") + 1, scope_of(0, 1)), "nothing is called `q` here");
  EXPECT_EQ(error_of(pick(me, {5, 6}), scope_of(2, 3)), "`pick(me, 5, 6)` picks number 2 of 2");
  EXPECT_EQ(error_of(Expression::make(Kind::element, {index_d}, "counts"), scope_of(0, 1)),
            "`counts[d]` is in memory and cannot be known here");
}

TEST(Expression, LogicStopsWhereItIsDecided) {
  const Expression impossible = Expression(1) / 0;
  EXPECT_EQ(evaluate(Expression(0) && impossible, {}), 0);
  EXPECT_EQ(evaluate(me || impossible, scope_of(5, 1)), 1);
  EXPECT_EQ(evaluate(pick(me, {7, impossible}), scope_of(0, 1)), 7);
}

TEST(Expression, TextHasNoMoreParenthesesThanItNeeds) {
  EXPECT_EQ(((me - 1) % all_ranks).text(), "(me - 1) % P");
  EXPECT_EQ((me - (all_ranks - 1)).text(), "me - (P - 1)");
  EXPECT_EQ((me - all_ranks - 1).text(), "me - P - 1");
  EXPECT_EQ((me * -1).text(), "me * -1");
  EXPECT_EQ((me - -1).text(), "me - -1");
  EXPECT_EQ((-(-me)).text(), "--me");
  EXPECT_EQ((!(me < all_ranks && index_d > 0) || equals(me, index_d)).text(), "!(me < P && d > 0) || me == d");
  EXPECT_EQ(equals(me < all_ranks, index_d).text(), "(me < P) == d");
  EXPECT_EQ((-(me + 1) * min(me, index_d)).text(), "-(me + 1) * min(me, d)");
  const Expression there = Expression::make(Kind::element_on, {(me - 1) % all_ranks, index_d, 0}, "x");
  EXPECT_EQ(there.text(), "x@((me - 1) % P)[d, 0]");
  EXPECT_EQ(Expression::make(Kind::fold, {0, all_ranks, there}, "s", ReduceOp::max).text(),
            "max(s in 0..P, x@((me - 1) % P)[d, 0])");
}

TEST(Expression, SubstitutionLeavesAFoldedNameAlone) {
  const Expression s = Expression::variable("s");
  const Expression fold = Expression::make(Kind::fold, {0, s, s + me}, "s");
  EXPECT_EQ(substitute(fold, "s", 9).text(), "sum(s in 0..9, s + me)");
  EXPECT_EQ(substitute(me * index_d + index_d, "d", me + 1).text(), "me * (me + 1) + (me + 1)");
}

TEST(Expression, ReadsMemoryOnlyThroughElementsOfTheOwnRank) {
  EXPECT_TRUE(reads_memory(me + Expression::make(Kind::element, {index_d}, "counts")));
  EXPECT_FALSE(reads_memory(me + index_d));
}

}  // namespace
}  // namespace reshard
