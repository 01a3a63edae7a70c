// Published cases of moving a tensor from one mesh of hosts to another that has no rank in common with it: nine from
// several senders to several receivers, and those from one sender. Bytes that cross and rounds are worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "reshard/multicast.h"
#include "reshard/rounds.h"

namespace reshard {
namespace {

constexpr Index kMiB = Index{1} << 20;
constexpr Index kRanksPerHost = 4;

// Hosts of 4 with 10 Gb/s to the network.
Topology hosts(Index count) {
  TopologySpec spec{.ranks = count * kRanksPerHost};
  spec.levels.push_back({.name = "rank", .link = {5e-6, 25e9}});
  spec.levels.push_back({.name = "host", .link = {2e-5, 1.25e9}, .holds = kRanksPerHost});
  return Topology(spec);
}

struct Case {
  const char* name;
  const char* source;
  const char* target;
  Index source_hosts;
  Index target_hosts;
  Index direct;  // bytes into each target host when every receiver is sent its own
  Index once;    // bytes that must enter it
  Index rounds;  // of the direct messages, between ranks
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.source << "  ->  " << c.target; }

// Tiles of 1 GiB and 512 MiB; receivers of a host want the same tile,
// except in d. In f the greatest receiver has two messages, but dealing by bytes gives one sender three small ones.
const Case cases[] = {
    {"a_same_cut", "f32[1024,1024,512] on (h=2, d=4) {0: h}", "f32[1024,1024,512] on (h=2, d=4)@8 {0: h}", 2, 2,
     4096 * kMiB, 1024 * kMiB, 1},
    {"b_replicated_to_rows", "f32[1024,1024,512] on (h=2, d=4) {}", "f32[1024,1024,512] on (h=2, d=4)@8 {0: h}", 2, 2,
     4096 * kMiB, 1024 * kMiB, 1},
    {"c_columns_to_rows", "f32[1024,1024,512] on (h=2, d=4) {1: h}", "f32[1024,1024,512] on (h=2, d=4)@8 {0: h}", 2, 2,
     4096 * kMiB, 1024 * kMiB, 2},
    {"d_columns_to_rows_by_eight", "f32[1024,1024,512] on (r=8) {1: r}", "f32[1024,1024,512] on (r=8)@8 {0: r}", 2, 2,
     1024 * kMiB, 1024 * kMiB, 8},
    {"e_quarters_to_halves", "f32[1024,1024,512] on (h=2, d=4) {0: d}", "f32[1024,1024,512] on (h=2, d=4)@8 {0: h}", 2,
     2, 4096 * kMiB, 1024 * kMiB, 2},
    {"f_halves_to_thirds", "f32[3072,1024,170] on (h=2, d=4) {0: h}", "f32[3072,1024,170] on (h=3, d=4)@8 {0: h}", 2, 3,
     2720 * kMiB, 680 * kMiB, 3},
    {"g_quarters_to_all", "f32[1024,1024,512] on (r=4) {0: r}", "f32[1024,1024,512] on (h=2, d=4)@4 {}", 1, 2,
     8192 * kMiB, 2048 * kMiB, 8},
    {"h_quarters_to_all_shuffled", "f32[1024,1024,512] on (r=4)@[2,0,3,1] {0: r}",
     "f32[1024,1024,512] on (h=2, d=4)@4 {}", 1, 2, 8192 * kMiB, 2048 * kMiB, 8},
    {"i_columns_to_planes", "f32[1024,1024,512] on (h=2, d=4) {1: h}", "f32[1024,1024,512] on (h=2, d=4)@8 {2: h}", 2,
     2, 4096 * kMiB, 1024 * kMiB, 2},
};

class ManyToMany : public testing::TestWithParam<Case> {};

TEST_P(ManyToMany, BytesAndRoundsAreAsWorkedOut) {
  const Case& c = GetParam();
  const Topology topology = hosts(c.source_hosts + c.target_hosts);
  const Plan moved = plan(layout(c.source), layout(c.target));
  EXPECT_TRUE(moved.certificate().optimal());
  EXPECT_EQ(std::ssize(rank_rounds(messages_of(moved)).rounds), c.rounds);
  for (const Scheme scheme : all_schemes()) {
    SCOPED_TRACE(name_of(scheme));
    const Multicast hops = multicast(moved, topology, scheme);
    EXPECT_TRUE(verify(hops).empty());
    LinkTraffic traffic(topology);
    traffic.add_bound(moved);
    add_hops(traffic, hops);
    Index out = 0;
    for (Index host = 0; host < c.source_hosts; ++host) {
      out += traffic.out_of({1, host}).bytes;
      EXPECT_EQ(traffic.into({1, host}).bytes, 0);
    }
    Index in = 0;
    for (Index host = c.source_hosts; host < c.source_hosts + c.target_hosts; ++host) {
      EXPECT_EQ(traffic.into({1, host}).bytes, scheme == Scheme::star ? c.direct : c.once);
      EXPECT_EQ(traffic.into({1, host}).must, c.once);
      in += traffic.into({1, host}).bytes;
    }
    // What does not come from the source comes from another target host.
    EXPECT_LE(out, in);
    if (scheme == Scheme::star) {
      EXPECT_EQ(out, in);
    }
    if (scheme == Scheme::chain || scheme == Scheme::scatter) {
      EXPECT_EQ(out, moved.source().bytes()) << "each byte leaves the source mesh once";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ManyToMany, testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

struct Receivers {
  Index hosts;
  Index per_host;
};

class OneToMany : public testing::TestWithParam<Receivers> {};

TEST_P(OneToMany, ForwardingTakesAboutOnePassOverTheNetwork) {
  const auto [count, per_host] = GetParam();
  const Topology topology = hosts(1 + count);
  const Index n = count * per_host;
  // Rank 0 of host 0 to the first `per_host` ranks of each other host.
  const Layout source = layout("f32[268435456] on (r=1) {}");
  const Layout target =
      layout("f32[268435456] on (h=" + std::to_string(count) + ":4, d=" + std::to_string(per_host) + ":1)@4 {}");
  const Plan moved = plan(source, target);
  EXPECT_EQ(std::ssize(rank_rounds(messages_of(moved)).rounds), n);
  const double once = static_cast<double>(source.bytes()) / 1.25e9;
  for (const Scheme scheme : all_schemes()) {
    SCOPED_TRACE(name_of(scheme));
    const Multicast hops = multicast(moved, topology, scheme);
    LinkTraffic traffic(topology);
    add_hops(traffic, hops);
    for (Index host = 1; host <= count; ++host)
      EXPECT_EQ(traffic.into({1, host}).bytes, source.bytes() * (scheme == Scheme::star ? per_host : 1));
    const double seconds = seconds_of(hops, topology);
    EXPECT_GE(seconds, once);
    if (scheme == Scheme::star) {
      EXPECT_GE(seconds, static_cast<double>(n) * once);
    }
    if (scheme == Scheme::chain || scheme == Scheme::scatter) {
      EXPECT_EQ(traffic.out_of({1, 0}).bytes, source.bytes());
      // t (1 + A/K) for A hosts and K chunks, and the chunk's way inside the hosts.
      if (n > 1) {
        EXPECT_LE(seconds, once * (1 + static_cast<double>(count) / 8));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, OneToMany,
                         testing::Values(Receivers{1, 1}, Receivers{1, 2}, Receivers{1, 3}, Receivers{1, 4},
                                         Receivers{2, 2}, Receivers{3, 2}, Receivers{4, 2}, Receivers{4, 4}),
                         [](const auto& test) {
                           return std::to_string(test.param.hosts) + "x" + std::to_string(test.param.per_host);
                         });

}  // namespace
}  // namespace reshard
