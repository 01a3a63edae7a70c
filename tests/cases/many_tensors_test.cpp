// Many tensors at once: memory, plan time and messages (class O), sizes beyond 32 bits (F1), buckets (M9), as plans.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "property/batch_contents.h"
#include "property/interleaved.h"
#include "reshard/batch_program.h"

namespace reshard {
namespace {

// Every rank's buffers after one run, its operations in a random order.
std::vector<std::vector<std::byte>> moved(const BatchPlan& plan, Index ranks, Random& random) {
  std::vector<Program> programs;
  for (Index r = 0; r < ranks; ++r) programs.push_back(batch_program(plan, RankId(r), ranks));
  Interleaved world(std::move(programs));
  Contents contents;
  std::vector<std::vector<std::byte>> targets;
  world.run(
      1, random,
      [&](std::size_t rank, std::uint64_t) {
        for (std::size_t k = 0; k < plan.tensors().size(); ++k) {
          const Layout& l = plan.sources()[static_cast<std::size_t>(plan.tensors()[k].source)];
          world.window(static_cast<int>(2 * k), rank) =
              filled(contents.of(l, static_cast<Index>(rank)), bytes_of(l.dtype()), k, 1, std::byte{});
        }
      },
      [](std::size_t, std::uint64_t) {});
  for (std::size_t k = 0; k < plan.tensors().size(); ++k)
    for (Index r = 0; r < ranks; ++r)
      targets.push_back(world.window(static_cast<int>(2 * k + 1), static_cast<std::size_t>(r)));
  return targets;
}

// A fused target of three source tensors, and 997 more; messages of one tensor, of two, and of a thousand.
TEST(CaseM, M9TheSizeOfABucketDoesNotShowInTheResult) {
  Batch batch;
  for (int k = 0; k < 3; ++k)
    batch.add(fmt::format("qkv.{}", "qkv"[k]), layout("f32[4,3] on (tp=2) {0: tp}"),
              layout(fmt::format("f32[12,3][{}:{}, :] on (tp=3)@2 {{0: tp:parts[4,4,4]:balanced}}", 4 * k, 4 * k + 4)));
  for (int k = 0; k < 997; ++k)
    batch.add(fmt::format("w{}", k), layout("f32[5] on (tp=2) {0: tp}"), layout("f32[5] on (tp=3)@2 {0: tp}"));
  Random random(seed_from_environment());
  std::vector<std::vector<std::byte>> first;
  std::vector<Index> messages;
  // Slots for 16, 32 and a million bytes: one transfer of the fused tensor, two, or all of them.
  for (const Index slot : {16, 32, 1 << 20}) {
    const BatchPlan plan(batch, {.plan = {.staging_limit = 3 * slot}, .pack_below = 1 << 20});
    messages.push_back(plan.certificate().totals.messages);
    const auto result = moved(plan, 5, random);
    if (first.empty()) first = result;
    EXPECT_EQ(result, first) << "slots of " << slot << " bytes";
  }
  EXPECT_GT(messages[0], messages[1]);
  EXPECT_EQ(messages[2], std::ssize(BatchPlan(batch).certificate().pairs));
}

TEST(CaseO, O1StagingIsBoundedByASetting) {
  Batch batch;
  for (int k = 0; k < 64; ++k)
    batch.add(fmt::format("t{}", k), layout("f32[1024,1024] on (r=8) {0: r}"),
              layout("f32[1024,1024] on (r=4) {1: r}"));
  constexpr Index kMiB = Index{1} << 20;
  const BatchPlan plan(batch, {.plan = {.staging_limit = 8 * kMiB}, .pack_below = kMiB});
  EXPECT_LE(staging_bytes(plan), 8 * kMiB);
  const BatchCertificate certificate = plan.certificate();
  EXPECT_GT(certificate.totals.peak_staging, 4 * kMiB);
  EXPECT_LE(certificate.totals.peak_staging, 8 * kMiB);
  EXPECT_LT(certificate.totals.messages, certificate.transfers / 10);
  EXPECT_TRUE(certificate.totals.optimal());
  // With nothing packed no rank needs any.
  EXPECT_EQ(BatchPlan(batch, {.pack_below = 0}).certificate().totals.peak_staging, 0);
}

TEST(CaseO, O3EachOf64RanksTalksToTen) {
  Batch batch;
  for (int k = 0; k < 100; ++k)
    batch.add(fmt::format("t{}", k), layout("f32[640] on (r=64) {0: r}"),
              layout("f32[640] on (r=64)@64 {0: r:strided(10)}"));
  const BatchPlan plan(batch);
  const BatchCertificate certificate = plan.certificate();
  EXPECT_EQ(certificate.transfers, 64'000);
  EXPECT_EQ(certificate.totals.messages, 640);
  for (const RankBytes& rank : certificate.totals.ranks) EXPECT_EQ(rank.messages_in + rank.messages_out, 10);
  EXPECT_EQ(plan.of_rank(RankId(7)).sends.size(), 10u);
  EXPECT_TRUE(plan.of_rank(RankId(7)).receives.empty());
}

// 723 tensors of 14 shapes, 512 source shards, 384 target shards: what is planned are the shapes.
TEST(CaseO, O4PlansCostShardsPlusTransfersOfEachClass) {
  Batch batch;
  for (int k = 0; k < 723; ++k) {
    const Index rows = 1024 * (1 + k % 14);
    batch.add(fmt::format("t{}", k), layout(fmt::format("bf16[{},64] on (fsdp=512) {{0: fsdp}}", rows)),
              layout(fmt::format("bf16[{},64] on (tp=384)@512 {{0: tp}}", rows)));
  }
  const BatchPlan plan(batch);
  ASSERT_EQ(plan.classes().size(), 14u);
  for (const BatchClass& c : plan.classes()) EXPECT_LE(plan.plan(c).transfers().size(), 512u + 384u - 1);
  const BatchCertificate certificate = plan.certificate();
  EXPECT_TRUE(certificate.totals.optimal());
  EXPECT_LE(certificate.transfers, 723 * (512 + 384 - 1));
  Index own = 0;
  for (const PeerTransfers& peer : plan.of_rank(RankId(512 + 17)).receives) own += std::ssize(peer.transfers);
  EXPECT_LE(own, 14 * 3);
}

TEST(CaseF, F1BatchesBeyondTwoToThe31Bytes) {
  Batch batch;
  for (int k = 0; k < 4; ++k)
    batch.add(fmt::format("t{}", k), layout("f32[536870913] on (only=1)"), layout("f32[536870913] on (only=1)@1"));
  const BatchPlan plan(batch);
  EXPECT_EQ(plan.certificate().totals.sent, 4 * 2147483652);
  EXPECT_EQ(plan.certificate().totals.messages, 4);
  const Program reader = batch_program(plan, RankId(1), 2);
  Index bytes = 0;
  for (const Operation& op : reader.operations[1])
    for (const Block& block : op.blocks) bytes += block.bytes();
  EXPECT_EQ(bytes, 4 * 2147483652);
}

TEST(CaseF, F1SumsBeyond63BitsAreRefused) {
  Batch batch;
  for (int k = 0; k < 3; ++k)
    batch.add(fmt::format("t{}", k), layout("u8[4611686018427387904] on (only=1)"),
              layout("u8[4611686018427387904] on (only=1)@1"));
  EXPECT_THROW(BatchPlan(batch).certificate(), Error);
}

}  // namespace
}  // namespace reshard
