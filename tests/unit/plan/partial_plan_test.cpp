// Plans from and to partial layouts, and the stages of a reduction.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/error.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> faults_of(const Plan& p, std::vector<Transfer> transfers) {
  std::vector<std::string> messages;
  for (const Fault& fault : verify(Plan(p.source(), p.target(), p.options(), std::move(transfers))))
    messages.push_back(fault.message);
  return messages;
}

std::vector<Transfer> copy_of(const Plan& p) { return {p.transfers().begin(), p.transfers().end()}; }

std::string refusal(std::string_view source, std::string_view target, Code code = Code::unsupported) {
  try {
    plan(layout(source), layout(target));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "planned";
}

std::vector<std::string> stage_texts(std::string_view source, std::string_view target) {
  std::vector<std::string> texts;
  for (const Layout& stage : stages(layout(source), layout(target))) texts.push_back(stage.text());
  return texts;
}

TEST(PartialPlan, TheLeadingSpanNamesTheTerm) {
  const Plan p = plan(layout("i64[5] on (x=2) {x: partial(sum)}"), layout("i64[5] on (x=2) {0: x}"));
  EXPECT_EQ(p.text(),
            "plan local\n"
            "source i64[5] on (x=2) {x: partial(sum)}\n"
            "target i64[5] on (x=2) {0: x}\n"
            "0 -> 0 [0:1>0:1, 0:3>0:3] 24 bytes\n"
            "1 -> 0 [0:1>1:2, 0:3>0:3] 24 bytes\n"
            "0 -> 1 [0:1>0:1, 3:5>0:2] 16 bytes\n"
            "1 -> 1 [0:1>1:2, 3:5>0:2] 16 bytes\n");
  EXPECT_THAT(verify(p), IsEmpty());
  EXPECT_EQ(plan_from_json(p.json()), p);
}

// A rank that holds one of k terms needs the k - 1 others of what it wants, and no plan sends less.
TEST(PartialPlan, TheLowerBoundCountsTerms) {
  const Certificate all = plan(layout("f32[6] on (x=3) {x: partial(max)}"), layout("f32[6] on (x=3)")).certificate();
  EXPECT_EQ(all.needed, 3 * 2 * 24);
  EXPECT_EQ(all.sent, all.needed);
  EXPECT_EQ(all.copied, 3 * 24);
  for (const RankBytes& rank : all.ranks) EXPECT_EQ(rank.needed, 48);
  const Certificate apart = plan(layout("f32[6] on (x=3) {x: partial(max)}"), layout("f32[6] on ()@3")).certificate();
  EXPECT_EQ(apart.needed, 3 * 24);
  EXPECT_EQ(apart.peak_staging, 3 * 24);
}

TEST(PartialPlan, StagingIsBounded) {
  const Layout source = layout("f32[1000] on (x=3) {x: partial(sum)}"), target = layout("f32[1000] on (x=3)");
  EXPECT_EQ(plan(source, target).certificate().peak_staging, 12000);
  EXPECT_EQ(plan(source, target, {.staging_limit = 100}).certificate().peak_staging, 100);
  EXPECT_EQ(plan(source, target, {.staging_limit = 12}).certificate().peak_staging, 12);
  try {
    plan(source, target, {.staging_limit = 11});
    FAIL() << "11 bytes hold no element of every term";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("staging limit of 11 bytes"), HasSubstr("one f32"), HasSubstr("3 terms"),
                                    HasSubstr("takes 12")));
  }
  EXPECT_EQ(plan(target, target, {.staging_limit = 0}).certificate().peak_staging, 0);
}

TEST(PartialPlan, WhatStaysPendingMovesTermByTerm) {
  const Plan cut = plan(layout("f32[4,4] on (a=2, b=2) {b: partial(sum)}"),
                        layout("f32[4,4] on (a=2, b=2) {1: a, b: partial(sum)}"));
  EXPECT_EQ(cut.certificate().sent, 0);
  EXPECT_EQ(cut.certificate().peak_staging, 0);
  const Plan apart =
      plan(layout("f32[4] on (a=3) {a: partial(min)}"), layout("f32[4] on (b=3)@[5,3,4] {b: partial(min)}"));
  std::vector<std::pair<Index, Index>> pairs;
  for (const Transfer& t : apart.transfers()) pairs.emplace_back(t.source.value(), t.target.value());
  EXPECT_THAT(pairs, ElementsAre(std::pair(1, 3), std::pair(2, 4), std::pair(0, 5)));
  for (const Plan* p : {&cut, &apart}) EXPECT_THAT(verify(*p), IsEmpty());
}

TEST(PartialPlan, CopiesOfATermAreShared) {
  const Plan p = plan(layout("f32[6] on (a=2, b=3) {a: partial(sum)}"), layout("f32[6] on (c=3)@6 {0: c}"));
  EXPECT_THAT(verify(p), IsEmpty());
  for (const RankBytes& rank : p.certificate().ranks) EXPECT_LE(rank.sent, 8) << rank.rank.value();
}

TEST(PartialPlan, ANewlyPendingValueIsKeptOnce) {
  const Plan p =
      plan(layout("f32[4] on (a=2, b=2)"), layout("f32[4] on (a=2, b=2) {a: partial(sum), b: partial(sum)}"));
  EXPECT_THAT(p.transfers(), SizeIs(1));
  EXPECT_THAT(verify(p), IsEmpty());
  const Plan averaged = plan(layout("f32[4] on (a=4)"), layout("f32[4] on (a=4) {a: partial(avg)}"));
  EXPECT_THAT(averaged.transfers(), SizeIs(4));
  // Cut otherwise on the way, and on a mesh of other names.
  const Plan cut =
      plan(layout("f32[4,4] on (a=2, b=2) {0: a}"), layout("f32[4,4] on (c=2, d=2) {1: c, d: partial(max)}"));
  EXPECT_THAT(verify(cut), IsEmpty());
  EXPECT_TRUE(cut.certificate().optimal());
}

TEST(PartialPlan, AxesOfOneRankPendNothing) {
  const Layout one = layout("f32[4] on (a=1, b=2) {0: b, a: partial(max)}");
  for (const char* target : {"f32[4] on (a=1, b=2) {a: partial(sum)}", "f32[4] on (c=3)@1 {0: c}"}) {
    const Plan p = plan(one, layout(target));
    EXPECT_THAT(verify(p), IsEmpty());
    EXPECT_EQ(p.certificate().peak_staging, 0);
  }
}

TEST(PartialPlan, UndefinedMovesAreRefusedWithTheWayOut) {
  EXPECT_THAT(refusal("f32[8] on (a=2, b=2) {a: partial(sum), b: partial(max)}", "f32[8] on (a=2, b=2)"),
              AllOf(HasSubstr("partial(sum) along \"a\" and partial(max) along \"b\""), HasSubstr("another order"),
                    HasSubstr("one at a time")));
  EXPECT_THAT(refusal("f32[8] on (a=2) {a: partial(sum)}", "f32[8] on (a=2) {a: partial(max)}"),
              AllOf(HasSubstr("partial(sum) along \"a\" of 2 terms cannot become partial(max)"),
                    HasSubstr("replicated along it first")));
  EXPECT_THAT(refusal("f32[8] on (a=2) {a: partial(sum)}", "f32[8] on (a=4) {a: partial(sum)}"),
              HasSubstr("of 2 terms cannot become partial(sum) along \"a\" of 4"));
  EXPECT_THAT(refusal("f32[8] on (a=2) {0: a}", "f32[8] on (a=2) {a: partial(sum)}"),
              AllOf(HasSubstr("partial(sum) along \"a\""), HasSubstr("replicated along it first")));
  EXPECT_THAT(refusal("f32[8] on (a=2)", "f32[8] on (a=2)@1 {a: partial(sum)}"),
              HasSubstr("replicated along it first"));
  EXPECT_THAT(refusal("f32[8] on (a=2, b=2)", "f32[8] on (a=2, b=2) {a: partial(sum), b: partial(min)}"),
              HasSubstr("another order"));
  EXPECT_THAT(refusal("complex64[8] on (a=2) {a: partial(max)}", "complex64[8] on (a=2)"),
              HasSubstr("complex64 cannot be reduced by max"));
  EXPECT_THAT(refusal("bool[8] on (a=2) {a: partial(avg)}", "bool[8] on (a=2)"),
              HasSubstr("bool cannot be reduced by avg"));
  EXPECT_THAT(refusal("f32[8] on (a=2) {a: partial(sum)}", "f32[9] on (a=2)", Code::invalid_argument),
              HasSubstr("both must describe the same tensor"));
}

// One kind at a time is an order that the user chose.
TEST(PartialPlan, OtherKindsMayStay) {
  const Plan p = plan(layout("f32[8] on (a=2, b=3) {a: partial(sum), b: partial(max)}"),
                      layout("f32[8] on (a=2, b=3) {b: partial(max)}"));
  EXPECT_THAT(verify(p), IsEmpty());
  EXPECT_THAT(verify(plan(layout("f32[8] on (a=2, b=3) {a: partial(sum), b: partial(avg)}"),
                          layout("f32[8] on (a=2, b=3) {0: b}"))),
              IsEmpty());
}

TEST(PartialPlan, VerifyFindsMissingDoubledAndForeignTerms) {
  const Plan p = plan(layout("f32[6] on (x=3) {x: partial(sum)}"), layout("f32[6] on (y=2)@3 {0: y}"));
  EXPECT_THAT(verify(p), IsEmpty());
  std::vector<Transfer> transfers = copy_of(p);
  transfers.erase(transfers.begin() + 1);
  EXPECT_THAT(faults_of(p, transfers), ElementsAre("rank 3: 6 of 9 target elements are written"));
  transfers = copy_of(p);
  transfers.push_back(transfers[2]);
  EXPECT_THAT(faults_of(p, transfers), ElementsAre(HasSubstr("write the same elements")));
  transfers = copy_of(p);
  transfers[1].source = RankId(0);  // the term of rank 0 in place of rank 1's
  EXPECT_THAT(faults_of(p, transfers), ElementsAre(HasSubstr("name different elements")));
  transfers = copy_of(p);
  transfers[0].dims.erase(transfers[0].dims.begin());
  EXPECT_THAT(faults_of(p, transfers), testing::Not(IsEmpty()));
  const Layout mixed = layout("f32[8] on (a=2, b=2) {a: partial(sum), b: partial(max)}");
  EXPECT_THAT(faults_of(Plan(mixed, layout("f32[8] on (a=2, b=2)"), {}, {}), {}),
              ElementsAre(HasSubstr("another order")));
}

TEST(Stages, ReplicasAreReducedOnceAndGathered) {
  EXPECT_THAT(stage_texts("f32[8] on (x=4) {x: partial(sum)}", "f32[8] on (x=4)"),
              ElementsAre("f32[8] on (x=4) {x: partial(sum)}", "f32[8] on (x=4) {0: x}", "f32[8] on (x=4)"));
  // With copies along another axis these cut as well; the longest dimension is cut.
  EXPECT_THAT(stage_texts("f32[4,64] on (a=4, b=4) {a: partial(sum)}", "f32[4,64] on (a=4, b=4)"),
              ElementsAre(testing::_, "f32[4,64] on (a=4, b=4) {1: (a b)}", testing::_));
}

TEST(Stages, NothingIsGainedWhereEachElementIsWantedOnce) {
  EXPECT_THAT(stage_texts("f32[8] on (x=4) {x: partial(sum)}", "f32[8] on (x=4) {0: x}"), SizeIs(2));
  EXPECT_THAT(stage_texts("f32[8] on (x=2) {x: partial(sum)}", "f32[8] on (x=2)"), SizeIs(2));
  EXPECT_THAT(stage_texts("f32[] on (x=4) {x: partial(sum)}", "f32[] on (x=4)"), SizeIs(2));
  EXPECT_THAT(stage_texts("f32[8] on (x=4) {0: x}", "f32[8] on (x=4)"), SizeIs(2));
}

// Every way from a pending value to everywhere: the stages chosen send no more than the direct plan, and are proven.
TEST(Stages, NeverSendMore) {
  for (Index k = 1; k <= 6; ++k)
    for (Index r = 1; r <= 4; ++r)
      for (Index n : {1, 5, 12})
        for (const char* target : {"", " {0: r}", " {0: k}", " {0: k r}"}) {
          const Layout source = layout(fmt::format("f32[{},3] on (k={}, r={}) {{k: partial(sum)}}", n, k, r));
          const Layout wanted = layout(fmt::format("f32[{},3] on (k={}, r={}){}", n, k, r, target));
          const std::vector<Layout> all = stages(source, wanted);
          Index sent = 0;
          for (std::size_t stage = 1; stage < all.size(); ++stage) {
            const Plan p = plan(all[stage - 1], all[stage]);
            ASSERT_THAT(verify(p), IsEmpty());
            ASSERT_TRUE(p.certificate().optimal());
            sent += p.certificate().sent;
          }
          const Index direct = plan(source, wanted).certificate().sent;
          ASSERT_LE(sent, direct) << source.text() << " -> " << wanted.text();
          ASSERT_EQ(all.size() > 2 && sent == direct && k < 3, false);
        }
}

}  // namespace
}  // namespace reshard
