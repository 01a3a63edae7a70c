// Which copy sends, where asking is cheap although there are many: counted in receivers of one rank, not in ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "reshard/error.h"
#include "reshard/plan.h"

namespace reshard {
namespace {

// A rank receives what the whole plan says, and its senders know.
void expect_local_view(const Layout& source, const Layout& target, const PlanOptions& options) {
  const Plan p = plan(source, target, options);
  EXPECT_TRUE(verify(p).empty());
  std::map<RankId, std::vector<Transfer>> receives, sends;
  for (const Transfer& t : p.transfers()) {
    receives[t.target].push_back(t);
    sends[t.source].push_back(t);
  }
  for (RankId rank(0); rank < RankId(40); ++rank) {
    EXPECT_EQ(plan_receives(source, target, rank, options), receives[rank]) << rank.value();
    EXPECT_EQ(plan_sends(source, target, rank, options), sends[rank]) << rank.value();
  }
}

Index most_sent(const Plan& p) {
  Index most = 0;
  for (const RankBytes& rank : p.certificate().ranks) most = std::max(most, rank.sent);
  return most;
}

TEST(Copies, OverlappingMeshesDealOnlyToThoseWhoNeed) {
  // Ranks 0 to 3 hold all; each serves its quarter of the 12 others with 16 elements each.
  const Layout source = layout("u8[16] on (c=4)"), target = layout("u8[16] on (r=16)");
  for (const Index rotation : {0, 1, 7}) {
    const PlanOptions options{.policy = SenderPolicy::balanced, .ranks_per_host = 0, .rotation = rotation};
    expect_local_view(source, target, options);
    EXPECT_EQ(most_sent(plan(source, target, options)), 3 * 16);
  }
}

TEST(Copies, HostsServeTheirOwn) {
  const Layout source = layout("u8[30] on (s=2:1, c=3:8)@1 {0: s}");
  const Layout target = layout("u8[30] on (a=4, r=6) {0: a}");
  for (const Index per_host : {1, 3, 4, 8, 1000}) {
    const PlanOptions options{.policy = SenderPolicy::local, .ranks_per_host = per_host, .rotation = 1};
    expect_local_view(source, target, options);
  }
  const PlanOptions options{.policy = SenderPolicy::local, .ranks_per_host = 8, .rotation = 0};
  const Plan p = plan(source, target, options);
  for (const Transfer& t : p.transfers()) EXPECT_EQ(t.source.value() / 8, t.target.value() / 8);
}

// Every rank by itself finds what the whole plan says, whatever the policy, with places and without.
TEST(Copies, EndsAgreeByEveryPolicy) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"u8[30] on (s=2:1, c=3:8)@1 {0: s}", "u8[30] on (a=4, r=6) {0: a}"},
      {"u8[23] on (c=4, s=2)@3 {0: s}", "u8[23] on (r=2, a=5) {0: a}"},
      {"u8[7,5] on (c=2, d=3, s=2) {1: s}", "u8[7,5] on (a=3, r=4)@20 {0: a}"},
      {"u8[12] on (s=3, c=2, k=2) {0: s, k: at(1)}", "u8[12] on (a=9)@2 {0: a}"}};
  for (const auto& [source, target] : cases)
    for (const SenderPolicy policy : all_sender_policies())
      for (const Index per_host : {0, 1, 3, 4})
        for (const Index hosts_per_rack : {0, 1, 3})
          expect_local_view(layout(source), layout(target),
                            {.policy = policy,
                             .ranks_per_host = per_host,
                             .ranks_per_rack = hosts_per_rack * std::max<Index>(per_host, 2),
                             .rotation = per_host + hosts_per_rack});
}

TEST(Copies, RacksServeTheirOwnAfterHosts) {
  // Hosts of 2, racks of 4: copies on ranks 0 (host 0, rack 0) and 8 (host 4, rack 2).
  const Layout source = layout("u8[8] on (c=2:8)"), target = layout("u8[8] on (r=12)");
  const Plan p = plan(source, target, {.policy = SenderPolicy::local, .ranks_per_host = 2, .ranks_per_rack = 4});
  std::vector<Index> senders;
  for (const Transfer& t : p.transfers()) senders.push_back(t.source.value());
  EXPECT_EQ(senders, (std::vector<Index>{0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8}));
}

TEST(Copies, RacksThatCutHostsAreRefused) {
  const Layout source = layout("u8[8] on (c=2)"), target = layout("u8[8] on (r=4)");
  try {
    plan(source, target, {.ranks_per_host = 4, .ranks_per_rack = 6});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_STREQ(error.what(), "6 ranks per rack are no multiple of 4 ranks per host: a host lies in one rack");
  }
}

// 64 copies of each of 2,048 shards, all gathered everywhere: 131,072 receivers of every shard.
TEST(Copies, OneRankOfAGatherOver131072Ranks) {
  const Layout source = layout("f32[4096] on (copy=64, shard=2048) {0: shard}");
  const Layout target = layout("f32[4096] on (r=131072)");
  const std::vector<Transfer> receives = plan_receives(source, target, RankId(70000));
  EXPECT_EQ(receives.size(), 2048u);
  for (const std::size_t k : {0u, 1000u}) {
    const std::vector<Transfer> sends = plan_sends(source, target, receives[k].source);
    EXPECT_EQ(std::ranges::count(sends, receives[k]), 1);
    EXPECT_EQ(sends.size(), 131072u / 64);
  }
}

TEST(Copies, ManySmallReceiversOfTwoCopies) {
  const Layout source = layout("f32[131072] on (copy=2)"), target = layout("f32[131072] on (r=131072)@2 {0: r}");
  EXPECT_EQ(plan_sends(source, target, RankId(1)).size(), 65536u);
  EXPECT_EQ(plan_receives(source, target, RankId(2)).front().source, RankId(0));
  EXPECT_EQ(plan_receives(source, target, RankId(131073)).front().source, RankId(1));
}

// Elements of all receivers together exceed 64 bits.
TEST(Copies, HugeShardsAreDealtEvenly) {
  const Layout source = layout("u8[4611686018427387904] on (c=2)");
  const Layout target = layout("u8[4611686018427387904] on (r=8)@2");
  for (Index k = 0; k < 8; ++k)
    EXPECT_EQ(plan_receives(source, target, RankId(2 + k)).front().source, RankId(k / 4)) << k;
}

}  // namespace
}  // namespace reshard
