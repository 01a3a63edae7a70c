// Many tensors moved together, on threads and on processes, compared byte by byte with the oracle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <stdexcept>
#include <thread>

#include "property/random_batch.h"
#include "redistribute/moved_tensor.h"
#include "reshard/batch_move.h"
#include "reshard/error.h"

namespace reshard::multi {
namespace {

using namespace std::chrono_literals;

class Batches : public testing::TestWithParam<const Fabric*> {};

INSTANTIATE_TEST_SUITE_P(On, Batches, testing::ValuesIn(fabrics()),
                         [](const auto& test) { return test.param->name() + "_ranks"; });

// The tensors of a batch in one world. A tensor's values name its place in the list, its index and the epoch.
struct Tensors {
  std::deque<Tensor> sources, targets;
  std::vector<BatchMove::Pair> pairs;  // in an order of this rank's own

  Tensors(World& world, const Batch& batch) {
    for (const BatchTensor& tensor : batch.tensors) {
      sources.push_back(world.allocate(batch.sources[static_cast<std::size_t>(tensor.source)], tensor.name));
      targets.push_back(world.allocate(batch.targets[static_cast<std::size_t>(tensor.target)], tensor.name + " moved"));
      poison_all(targets.back(), target_poison);
    }
    for (std::size_t k = 0; k < sources.size(); ++k) pairs.push_back({&sources[k], &targets[k]});
    Random own(static_cast<unsigned>(world.rank().value()));
    own.shuffle(pairs);
  }
  static std::uint64_t epoch_of(std::uint64_t epoch, std::size_t k) { return epoch * 10'000 + k; }
  void fill_sources(World& world, std::uint64_t epoch) {
    for (std::size_t k = 0; k < sources.size(); ++k) fill(world, sources[k], epoch_of(epoch, k), source_poison);
  }
  void expect_moved(World& world, std::uint64_t epoch) {
    for (std::size_t k = 0; k < targets.size(); ++k)
      expect_filled(world, targets[k], epoch_of(epoch, k), target_poison);
  }
};

// Moves the batch in three epochs; sources are overwritten as soon as a run has ended. Traffic of the last run.
Traffic expect_batch(World& world, const Batch& batch, const BatchOptions& options, bool uneven_pace = false) {
  Tensors tensors(world, batch);
  BatchMove move(world, tensors.pairs, options);
  Random pace(static_cast<unsigned>(world.rank().value()));
  Traffic traffic;
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    tensors.fill_sources(world, epoch);
    if (uneven_pace && pace.one_in(2)) std::this_thread::sleep_for(std::chrono::microseconds(pace.below(3000)));
    traffic = move.run();
    for (Tensor& source : tensors.sources) poison_all(source, source_poison);
    tensors.expect_moved(world, epoch);
  }
  return traffic;
}

Batch reversed(const Batch& batch) {
  return {.sources = batch.targets, .targets = batch.sources, .tensors = [&] {
            std::vector<BatchTensor> tensors;
            for (const BatchTensor& t : batch.tensors) tensors.push_back({t.name, t.target, t.source});
            return tensors;
          }()};
}

// Two stages, data and tensor parallel, to three ranks: one large tensor, odd sizes, empty shards, many that are tiny.
Batch model() {
  Batch batch;
  const auto add = [&](const std::string& name, const std::string& shape, const std::string& from,
                       const std::string& to) {
    batch.add(name, layout(shape + " on (pp=2, dp=2, tp=2) {" + from + "}"),
              layout(shape + " on (tp=3)@5 {" + to + "}"));
  };
  add("embedding", "bf16[1009,64]", "0: tp, pp: at(0)", "0: tp");
  for (int layer = 0; layer < 6; ++layer) {
    const std::string stage = fmt::format("pp: at({})", layer / 3);
    const auto name = [&](const char* part) { return fmt::format("layers.{}.{}", layer, part); };
    add(name("qkv"), "bf16[36,24]", "0: tp:parts[24,6,6], " + stage, "0: tp:parts[24,6,6]:balanced");
    add(name("out"), "bf16[24,24]", "1: tp, " + stage, "1: tp");
    add(name("up"), "f32[24,17]", "0: tp dp, " + stage, "1: tp:balanced");
    add(name("norm"), "f32[24]", stage, "");
    add(name("scale"), "f32[]", stage, "");
    add(name("bias"), "f64[2]", "0: tp dp, " + stage, "0: tp");
    for (int e = 0; e < 4; ++e) add(name("experts.") + std::to_string(e), "f32[5,3]", "0: dp, " + stage, "0: tp");
  }
  return batch;
}

// M9: thresholds of packing and limits of staging change messages, not bytes.
TEST_P(Batches, AModelMovesWhateverIsPacked) {
  const Batch batch = model();
  for (const auto& [below, limit] : std::vector<std::pair<Index, Index>>{
           {0, 1 << 20}, {100, 700}, {100, 1 << 20}, {1 << 30, 48}, {1 << 30, 700}, {1 << 30, 1 << 20}})
    for (const bool back : {false, true})
      run_ranks(GetParam(), 8, [&](World& world) {
        expect_batch(world, back ? reversed(batch) : batch, {.plan = {.staging_limit = limit}, .pack_below = below},
                     below == 100);
      });
}

TEST_P(Batches, RandomBatches) {
  Random random(seed_from_environment() + (GetParam()->traits().is_threads ? 0 : 1));
  for (int round = 0; round < (GetParam()->traits().is_threads ? 25 : 8); ++round) {
    const Batch batch = random_batch(random, 8);
    BatchOptions options;
    options.plan.staging_limit = random.among(std::vector<Index>{48, 300, 2000, 1 << 20});
    options.pack_below = random.among(std::vector<Index>{0, 50, 1 << 20});
    SCOPED_TRACE(testing::Message() << "round " << round);
    ASSERT_NO_THROW(
        run_ranks(GetParam(), world_of(batch), [&](World& world) { expect_batch(world, batch, options, true); }));
  }
}

// Counted, not timed: one message, and one signal each way, between each two ranks.
// Packing would copy them twice.
TEST_P(Batches, TinyTensorsAreFetchedFromWhereTheyLie) {
  if (!GetParam()->traits().is_one_host) GTEST_SKIP() << "between hosts they are packed";
  Batch batch;
  for (int k = 0; k < 1000; ++k)
    batch.add(fmt::format("t{:03}", k), layout("f32[7] on (r=2) {0: r}"), layout("f32[7] on (r=1)@2 {0: r}"));
  run_ranks(GetParam(), 3, [&](World& world) {
    Tensors tensors(world, batch);
    BatchMove move(world, tensors.pairs, {.pack_below = 1 << 10});
    tensors.fill_sources(world, 1);
    const Traffic traffic = move.run();
    tensors.expect_moved(world, 1);
    const bool reads = world.rank() == RankId(2);
    if (traffic.gets != (reads ? 2000 : 0) || traffic.notifications != (reads ? 2 : 1) ||
        traffic.bytes_got != (reads ? 28'000 : 0) || traffic.bytes_copied != 0)
      report(world, fmt::format("{} gets of {} bytes, {} notifications", traffic.gets, traffic.bytes_got,
                                traffic.notifications));
  });
}

// O1: 8 ranks to 4 of them, 64 tensors, staging of one and a half tensors.
TEST_P(Batches, StagingIsWhatTheLimitAllows) {
  Batch batch;
  for (int k = 0; k < 64; ++k)
    batch.add(fmt::format("t{}", k), layout("f32[128,32] on (r=8) {0: r}"), layout("f32[128,32] on (r=4) {1: r}"));
  const BatchOptions options{.plan = {.staging_limit = 24 << 10}, .pack_below = 1 << 20};
  ASSERT_LE(BatchPlan(batch, options).certificate().totals.peak_staging, 24 << 10);
  run_ranks(GetParam(), 8, [&](World& world) { expect_batch(world, batch, options); });
}

void expect_refused(World& world, const std::string& part, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    if (std::string(error.what()).find(part) != std::string::npos) return;
    report(world, "another error: " + std::string(error.what()));
  }
  report(world, "not refused");
}

// H4: ranks that name their tensors differently are told so before anything moves.
TEST_P(Batches, RanksThatDisagreeAreRefused) {
  run_ranks(GetParam(), 2, [&](World& world) {
    const Layout l = layout("f32[4] on (r=2) {0: r}"), m = layout("f32[4] on (r=2)@[1,0] {0: r}");
    const bool first = world.rank() == RankId(0);
    Tensor a = world.allocate(l, "a"), b = world.allocate(l, "b");
    Tensor c = world.allocate(m), d = world.allocate(m);
    using Pairs = std::vector<BatchMove::Pair>;
    expect_refused(world, "made different calls", [&] {
      BatchMove(world, first ? Pairs{{&a, &c}, {&b, &d}} : Pairs{{&a, &d}, {&b, &c}});
    });
  });
  run_ranks(GetParam(), 2, [&](World& world) {
    const Layout l = layout("f32[4] on (r=2) {0: r}");
    Tensor a = world.allocate(l, "a"), b = world.allocate(l, "b"), c = world.allocate(l, "c");
    expect_refused(world, "target of two", [&] { BatchMove(world, {{&a, &c}, {&b, &c}}); });
    expect_refused(world, "both a source and a target", [&] { BatchMove(world, {{&a, &b}, {&b, &c}}); });
  });
}

}  // namespace
}  // namespace reshard::multi
