#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reshard/error.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

using testing::HasSubstr;

std::vector<Transfer> copy_of(const Plan& p) { return {p.transfers().begin(), p.transfers().end()}; }

std::vector<std::string> faults_of(const Plan& p, std::vector<Transfer> transfers) {
  std::vector<std::string> messages;
  for (const Fault& fault : verify(Plan(p.source(), p.target(), p.options(), std::move(transfers))))
    messages.push_back(fault.message);
  return messages;
}

// A grid of 8 x 8 boxes per receiver: no two boxes are alike along either dimension alone.
TEST(Verify, FindsTheOneBoxWrittenTwice) {
  const Plan p = plan(layout("f32[64,64] on (a=8, b=8) {0: a, 1: b}"), layout("f32[64,64] on (r=2)@64"));
  EXPECT_TRUE(verify(p).empty());
  for (const std::size_t k : {0u, 37u, 63u, 64u, 127u}) {
    std::vector<Transfer> transfers = copy_of(p);
    transfers.push_back(transfers[k]);
    EXPECT_THAT(faults_of(p, transfers), testing::ElementsAre("rank " + std::to_string(64 + k / 64) + ": transfers " +
                                                              std::to_string(k) + " and 128 write the same elements"));
  }
  std::vector<Transfer> transfers = copy_of(p);
  transfers.erase(transfers.begin() + 70);
  EXPECT_THAT(faults_of(p, transfers), testing::ElementsAre("rank 65: 4032 of 4096 target elements are written"));
}

TEST(Verify, InterleavedRunsAreNoOverlap) {
  const Plan p = plan(layout("f32[24] on (r=3) {0: r:cyclic(1)}"), layout("f32[24] on (r=2)@3 {0: r:cyclic(2)}"));
  EXPECT_TRUE(verify(p).empty());
}

TEST(Verify, A0dTensorIsWrittenOnce) {
  const Plan p = plan(layout("f32[] on ()"), layout("f32[] on (r=2)"));
  EXPECT_TRUE(verify(p).empty());
  std::vector<Transfer> transfers = copy_of(p);
  transfers.push_back(transfers.back());
  EXPECT_THAT(faults_of(p, transfers), testing::ElementsAre(HasSubstr("write the same elements")));
}

// Sums of impossible transfers must not overflow.
TEST(Verify, ImpossibleTransfersAreFaults) {
  const Plan p = plan(layout("u8[4611686018427387904] on ()"), layout("u8[4611686018427387904] on ()@1"));
  EXPECT_TRUE(verify(p).empty());
  std::vector<Transfer> transfers = copy_of(p);
  for (int k = 0; k < 4; ++k) transfers.push_back(transfers.front());
  EXPECT_THAT(faults_of(p, transfers), testing::ElementsAre(HasSubstr("write the same elements")));
  transfers = {{RankId(INT64_MIN), RankId(1), {{{LocalIndex(0), LocalIndex(0), 1}}}},
               {RankId(0), RankId(1), {}},
               {RankId(0), RankId(1), {{{LocalIndex(0), LocalIndex(0), -1}}}},
               {RankId(0), RankId(1), {{{LocalIndex(INT64_MAX), LocalIndex(0), INT64_MAX}}}}};
  EXPECT_EQ(faults_of(p, transfers).size(), 4u);
}

TEST(Verify, WholePlansOfHugeMeshesAreRefused) {
  const Layout huge = layout("f32[8] on (r=1000000000000) {0: r}"), one = layout("f32[8] on ()");
  EXPECT_THROW(plan(one, huge), Error);
  EXPECT_THROW(Plan(one, huge, {}, {}), Error);
  EXPECT_EQ(plan_receives(one, huge, RankId(7)).size(), 1u);
}

TEST(Certificate, SumsPast64BitsAreRefused) {
  const Plan p = plan(layout("u8[4611686018427387904] on ()"), layout("u8[4611686018427387904] on (r=3)@1"));
  EXPECT_THROW(p.certificate(), Error);
}

}  // namespace
}  // namespace reshard
