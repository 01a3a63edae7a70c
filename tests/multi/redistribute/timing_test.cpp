// Ranks that come early and late. Nothing here depends on how long anything takes; the delays only make rare orders
// common.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "property/random.h"
#include "redistribute/moved_tensor.h"
#include "reshard/error.h"
#include "reshard/executor.h"

namespace reshard::multi {
namespace {

using namespace std::chrono_literals;

class Timing : public testing::TestWithParam<const Fabric*> {};

INSTANTIATE_TEST_SUITE_P(On, Timing, testing::ValuesIn(fabrics()),
                         [](const auto& test) { return test.param->name() + "_ranks"; });

// A rank overwrites its source as soon as its call returns: a reader that had not finished would see the next epoch.
TEST_P(Timing, EarlyAndLateRanksSeeTheirEpoch) {
  const unsigned seed = seed_from_environment();
  const Layout source = layout("i32[40,13] on (x=5) {0: x}"), target = layout("i32[40,13] on (x=5) {1: x}");
  run_ranks(GetParam(), 5, [&](World& world) {
    Random random(seed + static_cast<unsigned>(world.rank().value()));
    Tensor a = world.allocate(source), b = world.allocate(target);
    poison_all(b, target_poison);
    for (std::uint64_t epoch = 1; epoch <= 60; ++epoch) {
      fill(world, a, epoch, source_poison);
      if (random.one_in(4)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(4000)));
      redistribute(world, a, b);
      poison_all(a, source_poison);
      if (random.one_in(4)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(4000)));
      expect_filled(world, b, epoch, target_poison);
    }
  });
}

// A world's check of calls makes all ranks begin together; a program alone must not count on that.
TEST_P(Timing, ReadersWaitForLateOwners) {
  const unsigned seed = seed_from_environment();
  const Layout source = layout("i32[40,13] on (x=5) {0: x}"), target = layout("i32[40,13] on (x=5) {1: x}");
  run_ranks(GetParam(), 5, [&](World& world) {
    Random random(seed + static_cast<unsigned>(world.rank().value()));
    Endpoint& endpoint = world.endpoint();
    Tensor a = world.allocate(source), b = world.allocate(target);
    poison_all(b, target_poison);
    Executor executor(redistribute_program(source, target, world.rank(), 5), endpoint);
    const auto deadline = Clock::now() + 60s;
    executor.bind(
        {.windows = {a.window(), b.window()},
         .signals = {endpoint.create_signal("ready", 5, deadline), endpoint.create_signal("done", 5, deadline)}});
    for (std::uint64_t run = 0; run < 60; ++run) {
      if (random.one_in(4)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(4000)));
      fill(world, a, run, source_poison);
      executor.run(run, deadline);
      expect_filled(world, b, run, target_poison);
    }
  });
}

// Different programs share one world's signals.
TEST_P(Timing, ProgramsInTurnsDoNotMixUp) {
  const unsigned seed = seed_from_environment();
  const std::vector<Layout> layouts = {
      layout("i32[24,10] on (x=4) {0: x}"), layout("i32[24,10] on (x=4)@[3,1,2,0] {1: x}"),
      layout("i32[24,10] on (x=2)@4 {0: x}"), layout("i32[24,10] on (y=2, x=3) {0: y, 1: x}"),
      layout("i32[24,10] on (root=1)@5 {}")};
  run_ranks(GetParam(), 7, [&](World& world) {
    Random same(seed);
    Random own(seed + 1 + static_cast<unsigned>(world.rank().value()));
    std::vector<Tensor> tensors;
    for (const Layout& l : layouts) tensors.push_back(world.allocate(l));
    std::size_t at = 0;
    for (std::uint64_t round = 1; round <= 60; ++round) {
      auto to = static_cast<std::size_t>(same.below(static_cast<Index>(tensors.size())));
      if (to == at) to = (at + 1) % tensors.size();
      fill(world, tensors[at], round, source_poison);
      poison_all(tensors[to], target_poison);
      if (own.one_in(4)) std::this_thread::sleep_for(std::chrono::microseconds(own.below(2000)));
      redistribute(world, tensors[at], tensors[to]);
      expect_filled(world, tensors[to], round, target_poison);
      at = to;
    }
  });
}

TEST_P(Timing, ShuffledMeshes) {
  Random random(seed_from_environment());
  for (int round = 0; round < 10; ++round) {
    std::vector<RankId> ranks;
    for (Index r = 0; r < 7; ++r) ranks.push_back(RankId(r));
    random.shuffle(ranks);
    const Layout from = layout("i32[11,6] on (y=2, x=3) {0: x, 1: y}"),
                 to = layout("i32[11,6] on (z=5) {0: z:balanced}");
    LayoutSpec source = from.spec(), target = to.spec();
    source.mesh = Mesh::listed("", from.mesh().axes(), {ranks.begin(), ranks.begin() + 6});
    random.shuffle(ranks);
    target.mesh = Mesh::listed("", to.mesh().axes(), {ranks.begin(), ranks.begin() + 5});
    run_ranks(GetParam(), 7, [&](World& world) { expect_redistribute(world, Layout(source), Layout(target)); });
  }
}

// A rank that leaves in the middle: the others end with an error, none hangs.
TEST_P(Timing, ARankThatFailsEndsTheOthers) {
  try {
    run_ranks(GetParam(), 4,
              [&](World& world) {
                Tensor a = world.allocate(layout("i32[8] on (x=4) {0: x}"));
                if (world.rank() == RankId(2)) report(world, "gives up");
                redistribute(world, a, layout("i32[8] on (x=4) {}"));
              },
              {.timeout = 20s});
    FAIL() << "no error";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string_view(error.what()).find("rank 2: gives up"), std::string_view::npos) << error.what();
  }
}

}  // namespace
}  // namespace reshard::multi
