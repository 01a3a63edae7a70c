#include "reshard/predict.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "oracle/layout_check.h"
#include "property/random_layout.h"
#include "random_topology.h"
#include "reshard/error.h"

namespace reshard {
namespace {

// 8 ranks, 2 per host: 1 GB/s from a rank, 100 MB/s from a host.
Topology hosts_of_two() {
  TopologySpec spec{.ranks = 8};
  spec.levels.push_back({.name = "rank", .link = {1e-6, 1e9}});
  spec.levels.push_back({.name = "host", .link = {1e-3, 1e8}, .holds = 2});
  return Topology(spec);
}

const LinkUse* find(const Prediction& prediction, TopologyNode node, bool inwards) {
  for (const LinkUse& use : prediction.links)
    if (use.node == node && use.inwards == inwards) return &use;
  return nullptr;
}

// Four rows on hosts 0 and 1 to four columns on hosts 2 and 3: 16 messages of 1 MB, all between hosts.
TEST(Predict, AddsUpMessagesOnEveryLinkOfTheirWay) {
  const Topology topology = hosts_of_two();
  const Plan moved = plan(layout("u8[4000,4000] on (r=4) {0: r}"), layout("u8[4000,4000] on (r=4)@4 {1: r}"));
  const Prediction p = predict(moved, topology);
  for (Index rank = 0; rank < 4; ++rank) {
    const LinkUse* out = find(p, {0, rank}, false);
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(out->load, (LinkLoad{4'000'000, 4, 4'000'000}));
    EXPECT_DOUBLE_EQ(out->seconds, 4e-6 + 4e-3);
    EXPECT_EQ(find(p, {0, rank}, true), nullptr);
  }
  for (Index host = 2; host < 4; ++host) {
    const LinkUse* in = find(p, {1, host}, true);
    ASSERT_NE(in, nullptr);
    EXPECT_EQ(in->load, (LinkLoad{8'000'000, 8, 8'000'000}));
    EXPECT_DOUBLE_EQ(in->seconds, 8e-3 + 8e-2);
    EXPECT_DOUBLE_EQ(in->bound, 1e-3 + 8e-2);
  }
  EXPECT_DOUBLE_EQ(p.seconds, 8e-3 + 8e-2);
  EXPECT_DOUBLE_EQ(p.bound, 1e-3 + 8e-2);
  EXPECT_EQ(p.links.front().node.level, 1);
}

// One rank to all eight: its host sends six copies out, but one would do.
TEST(Predict, CopiesCrossALinkOncePerReceiverButMustOnlyOnce) {
  const Topology topology = hosts_of_two();
  const Prediction p = predict(plan(layout("u8[1000] on (r=1) {}"), layout("u8[1000] on (r=8) {}")), topology);
  EXPECT_EQ(find(p, {0, 0}, false)->load, (LinkLoad{7000, 7, 1000}));
  EXPECT_EQ(find(p, {1, 0}, false)->load, (LinkLoad{6000, 6, 1000}));
  EXPECT_EQ(find(p, {1, 3}, true)->load, (LinkLoad{2000, 2, 1000}));
  EXPECT_EQ(find(p, {1, 0}, true), nullptr);
}

TEST(Predict, TimesCountWholeTensors) {
  const Topology topology = hosts_of_two();
  const Plan moved = plan(layout("u8[64,3] on (r=4) {0: r}"), layout("u8[64,3] on (r=6)@2 {}"));
  LinkTraffic once(topology), thrice(topology);
  once.add(moved, 3);
  for (int k = 0; k < 3; ++k) thrice.add(moved);
  EXPECT_EQ(once.prediction().links, thrice.prediction().links);
}

TEST(Predict, NothingMovedTakesNoTime) {
  const Layout l = layout("f32[8] on (r=8) {0: r}");
  const Prediction p = predict(plan(l, l), hosts_of_two());
  EXPECT_TRUE(p.links.empty());
  EXPECT_EQ(p.seconds, 0);
  EXPECT_EQ(p.bound, 0);
}

TEST(Predict, RanksThatTheTopologyLacksAreNamed) {
  try {
    predict(plan(layout("f32[8] on (r=4) {0: r}"), layout("f32[8] on (r=8)@2 {0: r}")), hosts_of_two());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("the target's mesh needs rank 9"));
  }
}

// What must cross, element by element: wanted by some rank in the node and held by none; or held by nobody outside and
// wanted there by one that lacks it.
LinkLoad must_cross(const oracle::Side& source, const oracle::Side& target, const Topology& topology, TopologyNode node,
                    Index bytes_each) {
  std::uint64_t inside = 0;
  for (Index rank = 0; rank < topology.ranks(); ++rank)
    if (topology.node_of(node.level, RankId(rank)) == node.number) inside |= std::uint64_t{1} << rank;
  LinkLoad load;
  for (std::size_t e = 0; e < target.owners.size(); ++e) {
    const std::uint64_t held = source.owners[e], wanted = target.owners[e];
    if ((held & inside) == 0 && (wanted & inside) != 0) load.bytes += bytes_each;           // in
    if ((held & ~inside) == 0 && (wanted & ~inside & ~held) != 0) load.must += bytes_each;  // out
  }
  return load;
}

TEST(Predict, EqualsTheDefinitionOnRandomPairs) {
  Random random(seed_from_environment());
  for (int pair = 0; pair < 300; ++pair) {
    const std::vector<Index> shape = random_shape(random);
    const Layout source = random_layout(random, shape, Dtype::i32), target = random_layout(random, shape, Dtype::i32);
    const Topology topology = random_topology(random, 48);
    const Plan moved = plan(source, target);
    SCOPED_TRACE(testing::Message() << source.text() << "  ->  " << target.text() << "\n" << topology.text());
    LinkTraffic traffic(topology);
    traffic.add(moved);
    const oracle::Side from = oracle::side_of(source), to = oracle::side_of(target);
    double longest = 0;
    for (int level = 0; level < topology.levels(); ++level)
      for (Index node = 0; node < topology.nodes(level); ++node) {
        LinkLoad out, in;
        for (const Transfer& t : moved.transfers()) {
          const bool from_here = topology.node_of(level, t.source) == node;
          const bool to_here = topology.node_of(level, t.target) == node;
          if (from_here && !to_here) out.bytes += t.elements() * 4, ++out.messages;
          if (to_here && !from_here) in.bytes += t.elements() * 4, ++in.messages;
        }
        const LinkLoad must = must_cross(from, to, topology, {level, node}, 4);
        in.must = must.bytes;
        out.must = must.must;
        ASSERT_EQ(traffic.out_of({level, node}), out) << topology.node_name({level, node}) << " out";
        ASSERT_EQ(traffic.into({level, node}), in) << topology.node_name({level, node}) << " in";
        ASSERT_LE(in.must, in.bytes);
        ASSERT_LE(out.must, out.bytes);
        for (const LinkLoad& load : {out, in})
          if (load.messages > 0)
            longest = std::max(longest, topology.link({level, node}).seconds(load.bytes, load.messages));
      }
    const Prediction p = traffic.prediction();
    ASSERT_DOUBLE_EQ(p.seconds, longest);
    ASSERT_LE(p.bound, p.seconds);
    ASSERT_DOUBLE_EQ(traffic.seconds(), longest);
    const Rounds<RankId> rounds = rank_rounds(messages_of(moved));
    ASSERT_GE(seconds_in_rounds(rounds, topology), p.seconds * (1 - 1e-12));
  }
}

// Eight ranks behind one switch exchange equal parts: seven rounds of one message each, as long as no rounds at all.
TEST(Predict, RoundsOfEqualMessagesCostNothing) {
  const Topology one({.ranks = 8, .levels = {{.name = "rank", .link = {1e-6, 1e9}}}});
  const Plan all = plan(layout("f32[64,64] on (r=8) {0: r}"), layout("f32[64,64] on (r=8) {1: r}"));
  const Rounds<RankId> rounds = rank_rounds(messages_of(all));
  EXPECT_DOUBLE_EQ(seconds_in_rounds(rounds, one), 7 * (1e-6 + 8 * 8 * 4 / 1e9));
  EXPECT_DOUBLE_EQ(seconds_in_rounds(rounds, one), predict(all, one).seconds);
}

// A trainer of 4,096 ranks to an inference fleet of 1,024; what is stored grows with links, not with pairs.
TEST(Predict, AnswersForAFleet) {
  TopologySpec spec{.ranks = 5120};
  spec.levels.push_back({.name = "rank", .link = {2e-6, 450e9}});
  spec.levels.push_back({.name = "host", .link = {5e-6, 400e9}, .holds = 8});
  spec.levels.push_back({.name = "rack", .link = {5e-6, 6400e9}, .holds = 32});
  const Topology topology(spec);
  const Plan moved = plan(layout("bf16[8192,28672] on (dp=512, tp=8) {1: tp, 0: dp}"),
                          layout("bf16[8192,28672] on (dp=128, tp=8)@4096 {1: tp}"));
  const Certificate certificate = moved.certificate();
  const Prediction p = predict(moved, topology);
  Index out = 0, in = 0;
  for (const LinkUse& use : p.links)
    if (use.node.level == 0) (use.inwards ? in : out) += use.load.bytes;
  EXPECT_EQ(out, certificate.sent);
  EXPECT_EQ(in, certificate.sent);
  EXPECT_GT(p.seconds, p.bound);
}

}  // namespace
}  // namespace reshard
