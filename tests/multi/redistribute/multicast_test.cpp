// Hops run as programs, on threads and on processes: all schemes, several times, by early and late ranks.
#include "reshard/multicast_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "property/random_layout.h"
#include "redistribute/moved_tensor.h"
#include "reshard/executor.h"

namespace reshard::multi {
namespace {

using namespace std::chrono_literals;

Topology hosts_of(Index ranks, Index per_host) {
  TopologySpec spec{.ranks = ranks};
  spec.levels.push_back({.name = "rank", .link = {1e-6, 1e10}});
  spec.levels.push_back({.name = "host", .link = {1e-5, 1e9}, .holds = per_host});
  return Topology(spec);
}

// What running the hops must have cost this rank, counted from the hops alone.
Traffic expected_traffic(const Multicast& multicast, RankId self) {
  Traffic traffic;
  std::set<RankId> read_sources, read, source_readers, readers;
  for (const Hop& hop : multicast.hops()) {
    if (hop.is_local()) {
      if (hop.to == self) traffic.bytes_copied += multicast.bytes(hop);
      continue;
    }
    if (hop.to == self) {
      ++traffic.gets;
      traffic.bytes_got += multicast.bytes(hop);
      read.insert(hop.from);
      if (hop.after < 0) read_sources.insert(hop.from);
      if (hop.after >= 0) ++traffic.waits;
    }
    if (hop.from == self) {
      readers.insert(hop.to);
      if (hop.after < 0) source_readers.insert(hop.to);
      if (hop.after >= 0) ++traffic.notifications;
    }
  }
  traffic.notifications += std::ssize(source_readers) + std::ssize(read);
  traffic.waits += std::ssize(read_sources) + std::ssize(readers);
  return traffic;
}

struct Delays {
  Index one_in = 0;  // calls before which a rank sleeps; 0 = none
  RankId slow = RankId(-1);
};

// Runs the hops `calls` times with other values each time; a source is overwritten as soon as its rank returns.
void expect_multicast(World& world, const Multicast& multicast, int calls, Random& random, Delays delays = {}) {
  Tensor a = world.allocate(multicast.source()), b = world.allocate(multicast.target());
  poison_all(b, target_poison);
  Endpoint& endpoint = world.endpoint();
  const auto deadline = Clock::now() + 60s;
  const Program program = multicast_program(multicast, world.rank(), world.ranks());
  Binding binding{.windows = {a.window(), b.window()}, .signals = {}};
  for (const SignalSpec& signal : program.signals)
    binding.signals.push_back(endpoint.create_signal(signal.name, signal.slots, deadline));
  Executor executor(program, endpoint);
  executor.bind(binding);
  const auto pause = [&] {
    if (world.rank() == delays.slow) std::this_thread::sleep_for(3ms);
    if (delays.one_in > 0 && random.one_in(delays.one_in))
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
  };
  for (int call = 0; call < calls; ++call) {
    const auto epoch = static_cast<std::uint64_t>(call + 1);
    pause();
    fill(world, a, epoch, source_poison);
    executor.run(static_cast<std::uint64_t>(call), deadline);
    poison_all(a, source_poison);
    pause();
    expect_filled(world, b, epoch, target_poison);
    if (executor.traffic() != expected_traffic(multicast, world.rank())) report(world, "traffic is not as stated");
  }
  world.barrier();
  for (const SignalId signal : binding.signals) endpoint.destroy_signal(signal, deadline);
}

struct Spread {
  const char* name;
  const char* source;
  const char* target;
};

void PrintTo(const Spread& spread, std::ostream* out) { *out << spread.source << "  ->  " << spread.target; }

const Spread spreads[] = {
    {"one_to_all", "i32[37,5] on (r=1) {}", "i32[37,5] on (r=7) {}"},
    {"one_to_others", "i32[37,5] on (r=1)@3 {}", "i32[37,5] on (r=6)@[5,0,6,1,4,2] {}"},
    {"copies_to_many", "i32[23] on (dp=2) {}", "i32[23] on (r=5)@2 {}"},
    {"rows_to_all", "i32[11,3] on (r=3) {0: r}", "i32[11,3] on (r=4)@3 {}"},
    {"rows_to_all_overlapping", "i32[11,3] on (r=5) {0: r}", "i32[11,3] on (r=5)@2 {}"},
    {"rows_to_columns_replicated", "i32[7,9] on (r=3) {0: r}", "i32[7,9] on (dp=2, tp=2)@3 {1: tp}"},
    {"empty_shards", "i32[3,4] on (r=5) {0: r}", "i32[3,4] on (dp=3, tp=2) {1: tp}"},
    {"more_ranks_than_rows", "i32[2] on (r=2)@5 {0: r}", "i32[2] on (dp=2, r=3) {0: r}"},
    {"scalar", "f64[] on (r=1)@6 {}", "f64[] on (r=7) {}"},
    {"nothing", "f32[4,0] on (r=1) {}", "f32[4,0] on (r=7) {}"},
    {"interleaved", "i32[50,2] on (r=3) {0: r:cyclic(3)}", "i32[50,2] on (r=4)@3 {}"},
    {"into_fused", "bf16[6,5] on (r=2) {0: r}", "bf16[18,5][6:12, :] on (dp=2, x=2)@2 {0: x}"},
    {"column_major", "i32[9,4] on (r=1)@6 {} order(1,0)", "i32[9,4] on (dp=3, tp=2) {0: tp} order(1,0)"},
    {"narrow", "u8[101] on (r=2) {0: r}", "u8[101] on (r=5)@2 {}"},
};

class Multicasts : public testing::TestWithParam<std::tuple<const Fabric*, Spread, Scheme>> {};

TEST_P(Multicasts, FillTheTargetEveryTime) {
  const auto& [fabric, spread, scheme] = GetParam();
  const Plan moved = plan(layout(spread.source), layout(spread.target));
  const Multicast hops = multicast(moved, hosts_of(7, 3), scheme, {.chunks = 4});
  const unsigned seed = seed_from_environment();
  run_ranks(fabric, 7, [&](World& world) {
    Random random(seed + static_cast<unsigned>(world.rank().value()));
    expect_multicast(world, hops, 3, random);
  });
}

INSTANTIATE_TEST_SUITE_P(Cases, Multicasts,
                         testing::Combine(testing::ValuesIn(fabrics()), testing::ValuesIn(spreads),
                                          testing::ValuesIn(all_schemes().begin(), all_schemes().end())),
                         [](const auto& test) {
                           return std::get<0>(test.param)->name() + "_" + std::get<1>(test.param).name + "_" +
                                  std::string(name_of(std::get<2>(test.param)));
                         });

class MulticastTiming : public testing::TestWithParam<std::tuple<const Fabric*, Scheme>> {
 protected:
  void run(const Multicast& hops, int calls, Delays delays) {
    const unsigned seed = seed_from_environment();
    run_ranks(std::get<0>(GetParam()), 7, [&](World& world) {
      Random random(seed + static_cast<unsigned>(world.rank().value()));
      expect_multicast(world, hops, calls, random, delays);
    });
  }
  Multicast hops() const {
    const Plan moved = plan(layout("i32[60,7] on (r=2) {0: r}"), layout("i32[60,7] on (r=6)@1 {}"));
    return multicast(moved, hosts_of(7, 2), std::get<1>(GetParam()), {.chunks = 5});
  }
};

INSTANTIATE_TEST_SUITE_P(On, MulticastTiming,
                         testing::Combine(testing::ValuesIn(fabrics()),
                                          testing::ValuesIn(all_schemes().begin(), all_schemes().end())),
                         [](const auto& test) {
                           return std::get<0>(test.param)->name() + "_" + std::string(name_of(std::get<1>(test.param)));
                         });

// Any rank may be the slow one: the source, one in the middle of a chain, the last.
TEST_P(MulticastTiming, OneSlowRank) {
  for (Index slow = 0; slow < 7; ++slow) run(hops(), 4, {.slow = RankId(slow)});
}

// A rank that is early in its next run must not touch what others still read of this one.
TEST_P(MulticastTiming, EarlyAndLateRanks) { run(hops(), 60, {.one_in = 4}); }

class RandomMulticasts : public testing::TestWithParam<const Fabric*> {};

INSTANTIATE_TEST_SUITE_P(On, RandomMulticasts, testing::ValuesIn(fabrics()),
                         [](const auto& test) { return test.param->name() + "_ranks"; });

TEST_P(RandomMulticasts, EqualTheOracle) {
  Random random(seed_from_environment() + (GetParam()->traits().is_threads ? 0 : 50));
  for (int pair = 0; pair < (GetParam()->traits().is_threads ? 60 : 12); ++pair) {
    const std::vector<Index> shape = random_shape(random);
    const Layout source = random_layout(random, shape, Dtype::i32), target = random_layout(random, shape, Dtype::i32);
    const Index ranks = world_of(source, target);
    const Scheme scheme = random.among(std::vector<Scheme>(all_schemes().begin(), all_schemes().end()));
    const Multicast hops =
        multicast(plan(source, target), hosts_of(ranks, random.between(1, 5)), scheme, {.chunks = random.below(5)});
    SCOPED_TRACE(testing::Message() << "pair " << pair << ", " << name_of(scheme) << ": " << source.text() << "  ->  "
                                    << target.text());
    ASSERT_NO_THROW(run_ranks(GetParam(), ranks, [&](World& world) {
      Random own(1);
      expect_multicast(world, hops, 2, own);
    }));
  }
}

}  // namespace
}  // namespace reshard::multi
