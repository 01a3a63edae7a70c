#include "reshard/multicast.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "oracle/layout_check.h"
#include "property/plan_oracle.h"
#include "property/random_layout.h"
#include "random_topology.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using testing::HasSubstr;

Topology one_switch(Index ranks, LinkCost link = {1e-6, 1e9}) {
  return Topology({.ranks = ranks, .levels = {{.name = "rank", .link = link}}});
}

Topology sites(Index ranks, Index per_host, Index per_site) {
  TopologySpec spec{.ranks = ranks};
  spec.levels.push_back({.name = "rank", .link = {1e-6, 1e11}});
  spec.levels.push_back({.name = "host", .link = {5e-6, 1e10}, .holds = per_host});
  spec.levels.push_back({.name = "site", .link = {1e-3, 1e9}, .holds = per_site});
  return Topology(spec);
}

// Visits the source and the target address of every element of a transfer.
template <class Visit>
void each_element(const Transfer& t, const LocalStorage& source, const LocalStorage& target, std::size_t dim,
                  Index from, Index to, const Visit& visit) {
  if (dim == t.dims.size()) return visit(from, to);
  for (const Span& span : t.dims[dim])
    for (Index k = 0; k < span.length; ++k)
      each_element(t, source, target, dim + 1, from + (span.source.value() + k) * source.strides[dim],
                   to + (span.target.value() + k) * target.strides[dim], visit);
}

// Runs the hops on values, in a random order that their dependencies allow. Each value names its element.
void run_in_any_order(const Multicast& hops, Random& random) {
  const oracle::Side source = oracle::side_of(hops.source()), target = oracle::side_of(hops.target());
  const oracle::Buffers held = oracle::stamped(source, 3), wanted = oracle::stamped(target, 3);
  oracle::Buffers got = oracle::poisoned(target);
  std::vector<std::vector<std::size_t>> followers(hops.hops().size());
  std::vector<std::size_t> ready;
  for (std::size_t k = 0; k < hops.hops().size(); ++k) {
    const Index after = hops.hops()[k].after;
    (after < 0 ? ready : followers[static_cast<std::size_t>(after)]).push_back(k);
  }
  std::size_t ran = 0;
  while (!ready.empty()) {
    std::swap(ready[static_cast<std::size_t>(random.below(std::ssize(ready)))], ready.back());
    const std::size_t k = ready.back();
    ready.pop_back();
    ready.insert(ready.end(), followers[k].begin(), followers[k].end());
    ++ran;
    const Hop& hop = hops.hops()[k];
    const Transfer t = hops.transfer(hop);
    const Index from = hop.from.value(), to = hop.to.value();
    const std::vector<Index>& read = hop.after < 0 ? held.at(from) : got.at(from);
    const LocalStorage& read_as = (hop.after < 0 ? source : target).storage.at(from);
    std::vector<Index>& written = got.at(to);
    Index count = 0, wrong = 0;
    each_element(t, read_as, target.storage.at(to), 0, read_as.offset, target.storage.at(to).offset,
                 [&](Index at, Index into) {
                   const Index value = read.at(static_cast<std::size_t>(at));
                   Index& place = written.at(static_cast<std::size_t>(into));
                   wrong += value == oracle::poison || place != oracle::poison;  // not there yet, or the second time
                   place = value;
                   ++count;
                 });
    ASSERT_EQ(wrong, 0) << "hop " << k << "\n" << hops.text();
    ASSERT_EQ(count * bytes_of(hops.source().dtype()), hops.bytes(hop)) << "hop " << k;
  }
  ASSERT_EQ(ran, hops.hops().size());
  ASSERT_TRUE(got == wanted) << hops.text();
}

// Every node that has no holder of a piece is entered once by each of its bytes, and what has a holder is not entered.
void expect_each_byte_once(const Plan& plan, const Multicast& hops, const Topology& topology) {
  LinkTraffic traffic(topology);
  traffic.add_bound(plan);
  add_hops(traffic, hops);
  for (int level = 0; level < topology.levels(); ++level)
    for (Index node = 0; node < topology.nodes(level); ++node) {
      const LinkLoad& in = traffic.into({level, node});
      ASSERT_EQ(in.bytes, in.must) << topology.node_name({level, node}) << "\n" << hops.text();
    }
}

TEST(Multicast, IsRightOnRandomPairs) {
  Random random(seed_from_environment());
  for (int pair = 0; pair < 250; ++pair) {
    const std::vector<Index> shape = random_shape(random);
    const Layout source = random_layout(random, shape, Dtype::i32), target = random_layout(random, shape, Dtype::i32);
    const Topology topology = random_topology(random, 48);
    PlanOptions options;
    options.policy = random.among(std::vector{SenderPolicy::local, SenderPolicy::balanced});
    options.ranks_per_host = random.one_in(2) ? topology.regular(1) : 0;
    const Plan moved = plan(source, target, options);
    for (const Scheme scheme : all_schemes()) {
      const Index chunks = random.below(6);
      SCOPED_TRACE(testing::Message() << name_of(scheme) << " in " << chunks << " chunks: " << source.text() << "  ->  "
                                      << target.text() << "\n"
                                      << topology.text());
      const Multicast hops = multicast(moved, topology, scheme, {.chunks = chunks});
      const std::vector<Fault> faults = verify(hops);
      ASSERT_TRUE(faults.empty()) << faults.front().message << "\n" << hops.text();
      run_in_any_order(hops, random);
      if (testing::Test::HasFatalFailure()) return;
      if (scheme != Scheme::star) expect_each_byte_once(moved, hops, topology);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Multicast, StarIsThePlan) {
  Random random(seed_from_environment());
  for (int pair = 0; pair < 100; ++pair) {
    const std::vector<Index> shape = random_shape(random);
    const Plan moved = plan(random_layout(random, shape, Dtype::u8), random_layout(random, shape, Dtype::u8));
    const Multicast star = multicast(moved, one_switch(48), Scheme::star);
    std::vector<Transfer> transfers;
    for (const Hop& hop : star.hops()) transfers.push_back(star.transfer(hop));
    std::ranges::sort(transfers, {}, [](const Transfer& t) { return std::pair(t.target, t.source); });
    EXPECT_TRUE(std::ranges::equal(transfers, moved.transfers()));
  }
}

// A chain or a ring leaves each node once per byte, too, where one rank holds all.
TEST(Multicast, OneHolderSendsEachByteOnceOutOfEveryNode) {
  const Topology topology = sites(24, 3, 2);
  const Plan moved = plan(layout("u8[1000,7] on (r=1)@4 {}"), layout("u8[1000,7] on (r=24) {}"));
  for (const Scheme scheme : {Scheme::chain, Scheme::scatter}) {
    LinkTraffic traffic(topology);
    add_hops(traffic, multicast(moved, topology, scheme, {.chunks = 8}));
    for (int level = 0; level < topology.levels(); ++level)
      for (Index node = 0; node < topology.nodes(level); ++node)
        EXPECT_LE(traffic.out_of({level, node}).bytes, 7000)
            << name_of(scheme) << " " << topology.node_name({level, node});
    EXPECT_EQ(traffic.out_of({2, topology.node_of(2, RankId(4))}).bytes, 7000) << "the slow link, once";
  }
}

// Parts enter a host at different ranks, so no rank of it carries all that comes from outside.
TEST(Multicast, ScatterSpreadsWhatEntersAHostOverItsRanks) {
  const Topology topology = sites(12, 4, 1);
  const Plan moved = plan(layout("u8[6400] on (r=1) {}"), layout("u8[6400] on (r=8)@4 {}"));
  const Multicast hops = multicast(moved, topology, Scheme::scatter, {.chunks = 1});
  std::map<RankId, Index> entered;
  for (const Hop& hop : hops.hops())
    if (topology.meeting_level(hop.from, hop.to) > 1) entered[hop.to] += hops.bytes(hop);
  ASSERT_EQ(std::ssize(entered), 8);
  for (const auto& [rank, bytes] : entered) EXPECT_EQ(bytes, 1600) << rank.value();
}

TEST(Multicast, CopiesShareTheSending) {
  const Topology topology = one_switch(16);
  const Plan moved = plan(layout("u8[6400] on (dp=4) {}"), layout("u8[6400] on (r=8)@4 {}"));
  LinkTraffic traffic(topology);
  add_hops(traffic, multicast(moved, topology, Scheme::scatter, {.chunks = 1}));
  for (Index rank = 0; rank < 4; ++rank) EXPECT_EQ(traffic.out_of({0, rank}).bytes, 1600);
}

// Where a host has a copy, nothing comes from another host.
TEST(Multicast, HoldersServeTheirOwnHost) {
  const Topology topology = sites(12, 4, 3);
  const Plan moved = plan(layout("u8[999] on (a=3:4) {}"), layout("u8[999] on (r=12) {}"));
  for (const Scheme scheme : {Scheme::chain, Scheme::tree, Scheme::scatter}) {
    const Multicast hops = multicast(moved, topology, scheme);
    for (const Hop& hop : hops.hops()) EXPECT_LE(topology.meeting_level(hop.from, hop.to), 1) << name_of(scheme);
  }
}

TEST(Multicast, TimesAreThoseOfTheFormulas) {
  const double alpha = 3e-4, rate = 1e9;
  const auto seconds = [&](Index receivers, Scheme scheme, Index chunks) {
    const Topology topology = one_switch(receivers + 1, {alpha, rate});
    const Plan moved =
        plan(layout("u8[5040000] on (r=1) {}"), layout("u8[5040000] on (r=" + std::to_string(receivers) + ")@1 {}"));
    return seconds_of(multicast(moved, topology, scheme, {.chunks = chunks}), topology);
  };
  const double bytes = 5040000;
  for (const Index n : {1, 2, 3, 4, 7, 8, 15}) {
    const auto d = static_cast<double>(n);
    EXPECT_NEAR(seconds(n, Scheme::star, 1), d * (alpha + bytes / rate), 1e-9) << n;
    for (const Index k : {1, 2, 5, 10}) {
      if (n == 1) continue;  // a single receiver is sent all at once
      const double each = alpha + bytes / static_cast<double>(k) / rate;
      EXPECT_NEAR(seconds(n, Scheme::chain, k), (d - 1 + static_cast<double>(k)) * each, 1e-9) << n << " " << k;
    }
    EXPECT_NEAR(seconds(n, Scheme::tree, 1), std::ceil(std::log2(d + 1)) * (alpha + bytes / rate), 1e-9) << n;
  }
}

// The number of chunks that the topology suggests is no worse than any other by more than a chunk's rounding.
TEST(Multicast, ChunksByTheTopologyAreNearTheBest) {
  const Topology topology = one_switch(9, {2e-5, 1e9});
  const Plan moved = plan(layout("u8[10000000] on (r=1) {}"), layout("u8[10000000] on (r=8)@1 {}"));
  const double chosen = seconds_of(multicast(moved, topology, Scheme::chain), topology);
  for (Index k = 1; k <= 64; ++k)
    EXPECT_LE(chosen, seconds_of(multicast(moved, topology, Scheme::chain, {.chunks = k}), topology) * 1.02) << k;
}

TEST(Multicast, TheFastestSchemeDependsOnTheTopology) {
  const auto chosen = [](const Topology& topology, const char* source, const char* target) {
    return fastest(scheme_costs(plan(layout(source), layout(target)), topology));
  };
  // Nothing in common: all the same, and the plan is kept.
  EXPECT_EQ(chosen(one_switch(8), "u8[64,64] on (r=8) {0: r}", "u8[64,64] on (r=8) {1: r}"), Scheme::star);
  // Few bytes: latency counts.
  EXPECT_EQ(chosen(one_switch(17, {1e-3, 1e9}), "u8[64] on (r=1) {}", "u8[64] on (r=16)@1 {}"), Scheme::tree);
  // Many bytes: forwarding in parts.
  const Scheme many = chosen(one_switch(17, {1e-6, 1e9}), "u8[100000000] on (r=1) {}", "u8[100000000] on (r=16)@1 {}");
  EXPECT_TRUE(many == Scheme::chain || many == Scheme::scatter) << name_of(many);
}

TEST(Multicast, ScalarsEmptyTensorsAndOneRankAreOrdinary) {
  Random random(1);
  for (const char* shape : {"", "0", "3,0", "1"})
    for (const Scheme scheme : all_schemes()) {
      const std::string source = std::string("i32[") + shape + "] on (r=2) {}",
                        target = std::string("i32[") + shape + "] on (r=5)@1 {}";
      const Multicast hops = multicast(plan(layout(source), layout(target)), one_switch(6), scheme);
      EXPECT_TRUE(verify(hops).empty());
      run_in_any_order(hops, random);
    }
}

TEST(Multicast, EqualInputsGiveEqualHops) {
  const Plan moved = plan(layout("u8[100,3] on (a=2, b=3) {0: b}"), layout("u8[100,3] on (r=12)@4 {}"));
  for (const Scheme scheme : all_schemes())
    EXPECT_EQ(multicast(moved, sites(16, 2, 3), scheme).text(), multicast(moved, sites(16, 2, 3), scheme).text());
}

// Each way to spoil good hops is found.
TEST(Multicast, VerifyFindsWhatIsWrong) {
  const Plan moved = plan(layout("u8[12] on (r=1) {}"), layout("u8[12] on (r=4)@1 {}"));
  const Multicast good = multicast(moved, one_switch(5), Scheme::chain, {.chunks = 3});
  ASSERT_TRUE(verify(good).empty());
  const auto faults_with = [&](const std::function<void(std::vector<Hop>&)>& spoil) {
    std::vector<Hop> hops(good.hops().begin(), good.hops().end());
    spoil(hops);
    const Multicast bad(good.source(), good.target(), good.scheme(), {good.pieces().begin(), good.pieces().end()},
                        std::move(hops));
    std::string all;
    for (const Fault& fault : verify(bad)) all += fault.message + "\n";
    return all;
  };
  EXPECT_THAT(faults_with([](auto& hops) { hops.pop_back(); }), HasSubstr("target elements are written"));
  EXPECT_THAT(faults_with([](auto& hops) { hops.push_back(hops[0]); }), HasSubstr("write the same elements"));
  EXPECT_THAT(faults_with([](auto& hops) { hops[1].after = 5; }), HasSubstr("not before it"));
  EXPECT_THAT(faults_with([](auto& hops) { hops.back().after = 0; }), HasSubstr("forwards"));
  EXPECT_THAT(faults_with([](auto& hops) { hops.back().after = -1; }), HasSubstr("holds nothing of the source"));
  EXPECT_THAT(faults_with([](auto& hops) { hops[0].piece = 1; }), HasSubstr("piece 1"));
}

TEST(Multicast, RefusesWhatItCannotDo) {
  const auto error_of = [](const Plan& moved, const Topology& topology, MulticastOptions options = {}) -> std::string {
    try {
      multicast(moved, topology, Scheme::chain, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const Plan moved = plan(layout("u8[12] on (r=1) {}"), layout("u8[12] on (r=4)@1 {}"));
  EXPECT_THAT(error_of(moved, one_switch(4)), HasSubstr("the target's mesh needs rank 4"));
  EXPECT_THAT(error_of(moved, one_switch(5), {.chunks = -1}), HasSubstr("-1 chunks"));
  std::vector<Transfer> twice(moved.transfers().begin(), moved.transfers().end());
  twice.push_back(twice.back());
  EXPECT_THAT(error_of(Plan(moved.source(), moved.target(), {}, twice), one_switch(5)),
              HasSubstr("rank 4 the same twice"));
}

}  // namespace
}  // namespace reshard
