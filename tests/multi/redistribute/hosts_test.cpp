// Worlds of several hosts: what crosses to a host crosses once, and is put by whoever has it.
#include <gtest/gtest.h>

#include <set>

#include "every_fabric.h"
#include "redistribute/moved_tensor.h"

namespace reshard::multi {
namespace {

class SeveralHosts : public EveryFabric {};
RESHARD_ON_FABRICS_WHERE(!traits.is_one_host, SeveralHosts, {6, 8});

// Of all ranks; collective.
Index sum_over_ranks(World& world, Index mine) {
  const std::string every = std::to_string(world.ranks());
  Tensor each = world.allocate(layout("i64[" + every + "] on (r=" + every + ") {0: r}"));
  each.at<Index>({0}) = mine;
  const Tensor all = redistribute(world, each, layout("i64[" + every + "] on (r=" + every + ") {}"));
  Index sum = 0;
  for (Index r = 0; r < world.ranks(); ++r) sum += all.at<Index>({r});
  return sum;
}

// A tensor of two ranks, whole on all others: each host of these is sent every byte that it lacks once, whatever the
// number of its ranks.
TEST_P(SeveralHosts, EachHostIsEnteredOnceByEveryByte) {
  const Index others = ranks() - 2;
  run_ranks(&fabric(), ranks(), [others](World& world) {
    const Layout source = layout("f32[512,1024] on (r=2) {0: r}");
    const Layout target = layout("f32[512,1024] on (r=" + std::to_string(others) + ")@2 {}");
    const Traffic traffic = expect_redistribute(world, source, target);
    Index lacking = 0;  // bytes, over all hosts
    std::set<Index> hosts;
    for (Index r = 2; r < world.ranks(); ++r) hosts.insert(world.endpoint().host_of(RankId(r)));
    for (const Index host : hosts)
      for (Index owner = 0; owner < 2; ++owner)
        if (world.endpoint().host_of(RankId(owner)) != host) lacking += source.bytes() / 2;
    const Index put = sum_over_ranks(world, traffic.bytes_put);
    if (put != lacking) report(world, std::to_string(put) + " bytes put, hosts lack " + std::to_string(lacking));
  });
}

// Nothing crosses that its host has, though another rank of the host has it.
TEST_P(SeveralHosts, WhatAHostHasStaysThere) {
  run_ranks(&fabric(), ranks(), [](World& world) {
    const std::string every = std::to_string(world.ranks());
    const Layout source = layout("i64[48,5] on (r=" + every + ") {}");
    const Traffic traffic = expect_redistribute(world, source, layout("i64[48,5] on (r=" + every + ") {0: r}"));
    if (sum_over_ranks(world, traffic.bytes_put + traffic.bytes_got) != 0) report(world, "bytes have moved");
  });
}

TEST_P(SeveralHosts, ATransposePutsWhatCrossesAndFetchesTheRest) {
  run_ranks(&fabric(), ranks(), [](World& world) {
    const Index n = world.ranks();
    const std::string every = std::to_string(n);
    const Traffic traffic = expect_redistribute(world, layout("f32[48,80] on (r=" + every + ") {0: r}"),
                                                layout("f32[48,80] on (r=" + every + ") {1: r}"));
    Index together = 0;
    for (Index r = 0; r < n; ++r)
      together += world.endpoint().host_of(RankId(r)) == world.endpoint().host_of(world.rank());
    if (traffic.gets != together - 1 || traffic.puts != n - together)
      report(world, std::to_string(traffic.gets) + " gets, " + std::to_string(traffic.puts) + " puts");
  });
}

}  // namespace
}  // namespace reshard::multi
