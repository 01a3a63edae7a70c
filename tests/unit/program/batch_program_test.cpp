#include "reshard/batch_program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "property/batch_contents.h"
#include "property/interleaved.h"
#include "property/random_batch.h"
#include "reshard/error.h"

namespace reshard {
namespace {

using testing::HasSubstr;

constexpr std::byte kPoison{0xa5};

std::vector<Program> programs_of(const BatchPlan& plan, Index ranks, const RankHosts& hosts = {}) {
  std::vector<Program> programs;
  for (Index r = 0; r < ranks; ++r) programs.push_back(batch_program(plan, RankId(r), ranks, hosts));
  return programs;
}

// Moves the batch in `runs` runs of other values each, in a random order of operations, and compares every byte.
void expect_moved(const BatchPlan& plan, Index ranks, Random& random, const RankHosts& hosts = {},
                  std::uint64_t runs = 3) {
  Interleaved world(programs_of(plan, ranks, hosts));
  Contents contents;
  const auto each = [&](std::size_t rank, bool target, auto visit) {
    for (std::size_t k = 0; k < plan.tensors().size(); ++k) {
      const BatchTensor& tensor = plan.tensors()[k];
      const Layout& l = target ? plan.targets()[static_cast<std::size_t>(tensor.target)]
                               : plan.sources()[static_cast<std::size_t>(tensor.source)];
      visit(k, contents.of(l, static_cast<Index>(rank)), bytes_of(l.dtype()),
            world.window(static_cast<int>(2 * k + (target ? 1 : 0)), rank));
    }
  };
  for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r)
    each(r, true,
         [](std::size_t, const auto&, Index, std::vector<std::byte>& buffer) { std::ranges::fill(buffer, kPoison); });
  world.run(
      runs, random,
      [&](std::size_t rank, std::uint64_t run) {
        each(rank, false,
             [&](std::size_t k, const std::vector<Index>& held, Index bytes, std::vector<std::byte>& buffer) {
               buffer = filled(held, bytes, k, run + 1, kPoison);
             });
      },
      [&](std::size_t rank, std::uint64_t run) {
        each(rank, true,
             [&](std::size_t k, const std::vector<Index>& held, Index bytes, std::vector<std::byte>& buffer) {
               ASSERT_EQ(buffer, filled(held, bytes, k, run + 1, kPoison))
                   << "rank " << rank << ", run " << run << ", tensor " << plan.tensors()[k].name;
             });
        // Whoever still read the source of this run would see this.
        each(rank, false, [](std::size_t, const auto&, Index, std::vector<std::byte>& buffer) {
          std::ranges::fill(buffer, kPoison);
        });
      });
}

RankHosts random_hosts(Index ranks, Random& random) {
  if (random.one_in(4)) return {};
  std::vector<Index> host_of;
  const Index hosts = random.between(1, ranks);
  for (Index r = 0; r < ranks; ++r) host_of.push_back(random.below(hosts));
  return RankHosts(host_of);
}

// The bytes of staging that the operations of a rank write: by itself, and into the slot of incoming messages.
Index staged_bytes(const Program& program, std::size_t rank) {
  const int staging = static_cast<int>(program.windows.size()) - 1;
  std::vector<bool> written(static_cast<std::size_t>(program.windows.back().bytes[rank]));
  for (const Operation& op : program.operations[rank]) {
    if ((op.code != OpCode::copy && op.code != OpCode::get) || op.target_window != staging) continue;
    for (const Block& block : op.blocks) {
      std::vector<Index> rows = {block.target_offset};
      for (const Loop& loop : block.loops) {
        std::vector<Index> more;
        for (const Index row : rows)
          for (Index k = 0; k < loop.count; ++k) more.push_back(row + k * loop.target_stride);
        rows = std::move(more);
      }
      for (const Index row : rows)
        for (Index k = 0; k < block.row_bytes; ++k) written.at(static_cast<std::size_t>(row + k)) = true;
    }
  }
  return std::ranges::count(written, true);
}

struct Counts {
  Index gets = 0;
  Index notifications = 0;
};

Counts counts_of(const std::vector<Program>& programs) {
  Counts counts;
  for (std::size_t r = 0; r < programs.size(); ++r)
    for (const Operation& op : programs[r].operations[r]) {
      counts.gets += op.code == OpCode::get;
      counts.notifications += op.code == OpCode::notify;
    }
  return counts;
}

// The bytes of one row of the largest tensor's last dimension: what the smallest sensible limit holds.
Index row_bytes(const Batch& batch) {
  Index most = 1;
  for (const Layout& l : batch.sources)
    most = std::max(most, (l.dims() == 0 ? 1 : l.shape().back()) * bytes_of(l.dtype()));
  return most;
}

// O14: the staging of 500 random plans stays within the limit, down to one row of elements.
TEST(BatchProgram, StagingStaysWithinItsLimit) {
  Random random(seed_from_environment());
  Index staged_plans = 0, staged_most = 0, whole_most = 0;
  for (int round = 0; round < 500; ++round) {
    const Batch batch = random_batch(random, 8);
    const Index row = row_bytes(batch);
    BatchOptions options;
    options.plan.staging_limit = random.among(std::vector<Index>{row, 2 * row, 5 * row, 40 * row});
    options.pack_below = 1 << 20;
    const BatchPlan plan(batch, options);
    EXPECT_LE(staging_bytes(plan), options.plan.staging_limit);
    const Index ranks = world_of(batch);
    const std::vector<Program> programs = programs_of(plan, ranks);
    Index most = 0;
    for (std::size_t r = 0; r < programs.size(); ++r) most = std::max(most, staged_bytes(programs[r], r));
    EXPECT_LE(most, options.plan.staging_limit) << "round " << round;
    EXPECT_LE(most, plan.certificate().totals.peak_staging) << "round " << round;
    EXPECT_EQ(counts_of(programs).gets, plan.certificate().totals.messages) << "round " << round;
    staged_plans += most > 0;
    staged_most += most;
    for (const Layout& l : batch.targets) whole_most += l.bytes();
  }
  EXPECT_GT(staged_plans, 100);
  fmt::print("500 plans, {} of them staged: {} bytes at their peaks; gathering the tensors would take {}\n",
             staged_plans, staged_most, whole_most);
}

TEST(BatchProgram, RandomBatchesArriveInEveryOrderOfOperations) {
  Random random(seed_from_environment());
  for (int round = 0; round < 150; ++round) {
    const Batch batch = random_batch(random, 10);
    BatchOptions options;
    options.plan.policy = random.among(std::vector{SenderPolicy::local, SenderPolicy::balanced, SenderPolicy::modulo});
    options.plan.staging_limit = random.among(std::vector<Index>{0, 48, 150, 600, 5000, 1 << 20});
    options.pack_below = random.among(std::vector<Index>{0, 20, 200, 1 << 20});
    SCOPED_TRACE(testing::Message() << "round " << round);
    const Index ranks = world_of(batch);
    ASSERT_NO_THROW(expect_moved(BatchPlan(batch, options), ranks, random, random_hosts(ranks, random)));
    if (testing::Test::HasFailure()) return;
  }
}

// Every rank sends to every other, more than its two slots hold at once.
TEST(BatchProgram, SlotsAreReusedWhenTheirMessageIsFetched) {
  Random random(seed_from_environment());
  for (const Index ranks : {2, 3, 5, 8}) {
    Batch batch;
    for (int k = 0; k < 9; ++k)
      batch.add(fmt::format("w{}", k), layout(fmt::format("i64[23,7] on (r={}) {{0: r}}", ranks)),
                layout(fmt::format("i64[23,7] on (r={}) {{1: r}}", ranks)));
    for (const Index limit : {48, 240, 600, 3000}) {
      const BatchPlan plan(batch, {.plan = {.staging_limit = limit}, .pack_below = 1 << 20});
      SCOPED_TRACE(testing::Message() << ranks << " ranks, limit " << limit);
      for (int order = 0; order < 5; ++order) ASSERT_NO_THROW(expect_moved(plan, ranks, random));
    }
  }
}

TEST(BatchProgram, AThousandTinyTensorsAreOneMessagePerPair) {
  Batch batch;
  for (int k = 0; k < 1000; ++k)
    batch.add(fmt::format("t{}", k), layout("f32[13] on (r=4) {0: r}"), layout("f32[13] on (r=3)@4 {0: r:balanced}"));
  const BatchPlan packed(batch), direct(batch, {.pack_below = 0});
  const auto pairs = static_cast<Index>(packed.certificate().pairs.size());
  EXPECT_EQ(packed.certificate().transfers, 1000 * pairs);
  const Counts few = counts_of(programs_of(packed, 7)), many = counts_of(programs_of(direct, 7));
  EXPECT_EQ(few.gets, pairs);
  EXPECT_EQ(few.notifications, 2 * pairs);
  EXPECT_EQ(many.gets, 1000 * pairs);
  EXPECT_EQ(many.notifications, 2 * pairs);
}

TEST(BatchProgram, TextOfAPackedAndADirectTransfer) {
  Batch batch;
  batch.add("bias", layout("f32[2] on (a=1) {}"), layout("f32[2] on (b=1)@1 {}"));
  batch.add("norm", layout("bf16[3] on (a=1) {}"), layout("bf16[3] on (b=1)@1 {}"));
  batch.add("weight", layout("f32[4,2] on (a=1) {}"), layout("f32[4,2] on (b=1)@1 {}"));
  const BatchPlan plan(batch, {.plan = {.staging_limit = 96}, .pack_below = 32});
  EXPECT_EQ(batch_program(plan, RankId(0), 2).text(),
            "program batch on 2 ranks\n"
            "window source of bias bytes 8 0\n"
            "window target of bias bytes 0 8\n"
            "window source of norm bytes 6 0\n"
            "window target of norm bytes 0 6\n"
            "window source of weight bytes 32 0\n"
            "window target of weight bytes 0 32\n"
            "window staging bytes 96 96\n"
            "signal ready slots 2\n"
            "signal done slots 2\n"
            "rank 0\n"
            "  copy source of bias -> staging [0 -> 64 row 8]\n"
            "  copy source of norm -> staging [0 -> 72 row 6]\n"
            "  notify ready[0] on 1 set 2+16777216k\n"
            "  wait done[1] >= 2+16777216k\n");
  EXPECT_THAT(batch_program(plan, RankId(1), 2).text(),
              HasSubstr("rank 1\n"
                        "  wait ready[0] >= 2+16777216k\n"
                        "  get staging on 0 -> staging [64 -> 0 row 14]\n"
                        "  notify done[1] on 0 set 1+16777216k\n"
                        "  copy staging -> target of bias [0 -> 0 row 8]\n"
                        "  copy staging -> target of norm [8 -> 0 row 6]\n"
                        "  get source of weight on 0 -> target of weight [0 -> 0 row 32]\n"
                        "  notify done[1] on 0 set 2+16777216k\n"));
}

TEST(BatchProgram, RefusesRanksOutsideTheWorld) {
  Batch batch;
  batch.add("w", layout("f32[4] on (x=2) {0: x}"), layout("f32[4] on (x=2)@4 {0: x}"));
  const BatchPlan plan(batch);
  for (const Index rank : {-1, 6}) EXPECT_THROW(batch_program(plan, RankId(rank), 6), Error);
  try {
    batch_program(plan, RankId(0), 4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("names rank 5, but the world has 4 ranks"));
  }
}

}  // namespace
}  // namespace reshard
